// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/kinds.hpp"
#include "read/model/snapshot.hpp"
#include "read/recording/file/rows.hpp"
#include "read/recording/file/writer.hpp"

namespace ttmem::recording {

// Makes a recording of looks at a machine whose events cannot be read, each a Snapshot with its
// lists. As after lost events, what is live tells what has happened in between, but for what came
// and went: between two looks that differ there is a gap, in which whatever ended has ended at its
// begin, so that figures are "at least". What began has the time that its age says.
//
// Dispatches, marks, failures and the visits of scopes are not in a Snapshot. Not thread-safe;
// `writer` must outlive it.
class LookRecorder {
 public:
  // Only that process, as users there call it, if one is named.
  LookRecorder(Writer& writer, std::optional<std::int32_t> pid) : writer_(writer), pid_(pid) {}

  // At `time`, which never goes back. What is unchanged costs nothing in the file.
  void look(const model::Snapshot& snapshot, Time time);

  // Whether a recording that begins with this look would have a process.
  [[nodiscard]] static bool finds_any(const model::Snapshot& snapshot,
                                      std::optional<std::int32_t> pid);

  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }  // begins and ends
  [[nodiscard]] std::uint64_t processes() const { return seen_; }
  [[nodiscard]] std::size_t running() const { return processes_.size(); }

 private:
  using Key = model::ProcessKey;  // of one that lives

  struct OpenDevice {
    RecordedDevice row{};
    PerKind<RecordedSample> last{};
    std::uint64_t look = 0;  // that saw it last
  };
  struct Recorded {
    RecordedProcess row{};
    std::map<std::string, OpenDevice> devices{};  // by the key of the chip
    std::uint64_t look = 0;
  };
  // A live row.
  struct Live {
    RowId row = 0;
    RowId what = 0;     // its request, or its layout
    RowId devices = 0;  // a set, or a device
    std::optional<std::uint64_t> address{};
    std::uint64_t look = 0;
  };
  // What tells it from others of its process: kind, id, and its first device.
  using LiveKey = std::tuple<Key, std::uint32_t, std::uint64_t, RowId>;
  using Lives = std::map<LiveKey, Live>;
  // What this look found that was not there before.
  struct Begun {
    Time begin_ns = 0;
    LiveKey key{};
    std::optional<RecordedAllocation> allocation{};  // or
    std::optional<RecordedProgram> program{};
  };

  // Processes and devices that came, or are described anew.
  void see_processes(const model::Snapshot& snapshot);
  void see_device(const model::Device& device, const model::Process& process, Recorded& recorded);
  // Marks what is still there, and lists what is not yet.
  [[nodiscard]] std::vector<Begun> see_lists(const model::Snapshot& snapshot);
  void see(const model::Allocation& allocation, const model::Snapshot& snapshot,
           std::vector<Begun>& begun);
  void see(const model::Program& program, const model::Snapshot& snapshot,
           std::vector<Begun>& begun);
  void end_what_is_gone(const model::Snapshot& snapshot);
  void note_gaps(const std::vector<Begun>& begun);
  void begin(const Begun& one);
  void sample(const model::Snapshot& snapshot);

  // 0 unless this look lists the process there.
  [[nodiscard]] RowId device_of(const Key& process, const model::Device& device) const;
  [[nodiscard]] RowId request_of(const model::Allocation& allocation);
  [[nodiscard]] Time begin_of(std::uint64_t age_ns) const;

  Writer& writer_;
  std::optional<std::int32_t> pid_;
  std::map<Key, Recorded> processes_;
  Lives allocations_;
  Lives programs_;
  std::set<RowId> changed_;  // processes, since the look before
  Time last_ns_ = 0;         // of the look before
  Time now_ns_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace ttmem::recording
