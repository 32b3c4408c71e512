// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/playback/placed_programs.hpp"
#include "show/exports/left_at_end.hpp"
#include "show/exports/selection.hpp"
#include "track/ledger/footprint.hpp"

namespace ttmem::exports {

// The memory that every device holds, followed event by event. Not thread-safe.
class Usage {
 public:
  // With `left`, memory that was left on a chip at the end stays in use.
  Usage(const recording::Tables& tables, const Selection& selection,
        const LeftAtEnd* left = nullptr);
  ~Usage();

  void apply(const recording::Event& event);
  // Updates the programs whose layout has changed. To be called after all events of one time were
  // applied.
  void settle();
  // Returns the chips whose figures may have changed since clear_changed(), as indices into
  // Selection::chips().
  [[nodiscard]] const std::vector<std::size_t>& changed() const { return changed_; }
  void clear_changed();

  // Return the used bytes of all processes that have the chip open. The bytes of circular buffers
  // are physical: a byte that several programs share counts once. Returns 0 for a kind that is not
  // selected.
  [[nodiscard]] std::uint64_t used_bytes(const ExportedChip& chip, Kind kind) const;
  [[nodiscard]] std::uint64_t used_bytes(const ExportedChip& chip, Memory memory) const;
  // Returns the bytes of the circular buffers that were dispatched last.
  [[nodiscard]] std::uint64_t resident_bytes(const ExportedChip& chip) const;

 private:
  // The sums of one chip. A chip may be opened thousands of times, and each opening is a device.
  // Only a few of these devices have programs at the same time, so the sums use only the devices in
  // `placed`.
  struct OfChip {
    PerKind<std::uint64_t> allocated{};
    std::vector<recording::RowId> placed{};  // devices with programs
  };
  using Programs = std::unique_ptr<recording::PlacedPrograms>;  // nullptr: no programs so far
  void note_change(recording::RowId device);
  void allocate(const recording::RecordedAllocation& allocation, bool begins);
  void place(const recording::RecordedProgram& program);
  void remove(const recording::RecordedProgram& program);
  void dispatch(const recording::Dispatch& dispatch);
  void forget_if_empty(recording::RowId device);
  [[nodiscard]] const OfChip& of(const ExportedChip& chip) const {
    return chips_[selection_.chip_of(chip.devices.front())];
  }
  [[nodiscard]] const Programs& programs_on(recording::RowId device) const {
    return programs_[static_cast<std::size_t>(device - 1)];
  }
  [[nodiscard]] Programs& programs_on(recording::RowId device) {
    return programs_[static_cast<std::size_t>(device - 1)];
  }

  const recording::Tables& tables_;
  const Selection& selection_;
  const LeftAtEnd* left_;
  ledger::FootprintTable footprints_;
  std::vector<OfChip> chips_;
  std::vector<Programs> programs_;          // by device
  std::vector<recording::RowId> changing_;  // devices with programs that get another layout
  std::vector<std::size_t> changed_;
  std::vector<bool> is_changed_;  // true if `changed_` contains the chip; by chip
};

// Calls visit(time, changed chips) once for each time that has events, after all events of this
// time. visit() therefore never sees an allocation that begins and ends at the same time. `each`,
// if set, is called with every event before the event is applied.
[[nodiscard]] Result<void> for_each_moment(
    const recording::Reader& reader, Usage& usage,
    const std::function<void(recording::Time, const std::vector<std::size_t>&)>& visit,
    const std::function<void(const recording::Event&)>& each = {},
    recording::Telling telling = recording::Telling::everything);

struct Peak {
  std::uint64_t bytes = 0;
  recording::Time time_ns = 0;  // the first time with this value
};
using Peaks = std::vector<std::array<Peak, kMemories>>;  // [chip][memory]

// Finds the peaks in one pass over the whole recording.
[[nodiscard]] Result<Peaks> find_peaks(const recording::Reader& reader, const Selection& selection);

}  // namespace ttmem::exports
