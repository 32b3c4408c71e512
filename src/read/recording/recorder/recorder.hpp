// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/recorder/process_recorder.hpp"

namespace ttmem::recording {

// Records the segments of processes, without disturbing the processes. Not thread-safe; `writer`
// must outlive this object.
class Recorder {
 public:
  // `began_ns` is the begin of the recording on the monotonic clock. All times of the recording
  // count from it.
  Recorder(Writer& writer, std::uint64_t began_ns);

  // Records the process of this segment from now on. Does nothing if the segment is recorded
  // already. The process began at `earliest` or later, even if its own clock shows an earlier time.
  void add(UniqueFd segment, Time earliest = -kMaxTime);

  enum class Commit : std::uint8_t { when_due, now };
  // Reads new events and writes them. Call it often, because a ring only holds a limited number of
  // events. Fails if the file cannot be written; then nothing more is written.
  [[nodiscard]] Result<void> look(Commit commit = Commit::when_due);
  // How a child of this process ended, from waitpid().
  struct ChildEnd {
    std::int32_t pid = 0;
    int signal = 0;  // 0: the child exited
  };
  // Writes the remaining events and commits. Adds the counts and the end to `run`.
  [[nodiscard]] Result<void> finish(Run& run, std::optional<ChildEnd> child = std::nullopt);

  // Returns true if a running process is about to end.
  [[nodiscard]] bool is_any_ending() const;

  // Returns the segments of ended processes whose contents are all in the file.
  [[nodiscard]] std::vector<UniqueFd> take_ended() { return std::exchange(ended_segments_, {}); }

  struct Figures {
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
    std::uint64_t processes = 0;   // number of processes so far
    std::uint64_t failures = 0;    // number of out-of-memory errors
    std::uint64_t used_bytes = 0;  // on all devices, at the last refresh
    std::uint64_t peak_bytes = 0;  // maximum of used_bytes
    std::uint64_t elapsed_ns = 0;
    // Size in records of the smallest ring that lost events; 0: no event was lost.
    std::uint32_t smallest_ring = 0;
  };
  [[nodiscard]] Figures figures() const;
  // Returns the figures of the last commit, which the file contains even after a failure.
  [[nodiscard]] const Figures& written() const { return written_; }
  // Returns the number of running processes, including processes whose segment is incomplete.
  [[nodiscard]] std::size_t running() const { return processes_.size() + starting_.size(); }

 private:
  void begin_ready_processes();
  Time look_for_ends();
  void apply_until(Time time);
  void end_finished_processes();
  void note_child(const ChildEnd& child);
  void apply_remaining_events();
  void refresh(Time time);
  [[nodiscard]] Result<void> commit_figures();
  [[nodiscard]] bool has_any_ended() const;
  [[nodiscard]] Time now() const;

  Writer& writer_;
  std::uint64_t began_ns_;
  std::set<std::pair<dev_t, ino_t>> files_;
  std::vector<std::unique_ptr<ProcessRecorder>> starting_;
  std::vector<std::unique_ptr<ProcessRecorder>> processes_;
  Figures ended_;  // figures of processes that have ended
  Figures written_;
  // The processes of this pid namespace that ended in an unknown way, by pid. If several programs
  // of a process did, the last one.
  std::map<std::int32_t, RecordedProcess> unknown_ends_;
  std::vector<UniqueFd> ended_segments_;
  std::uint64_t peak_bytes_ = 0;
  Time last_commit_ = std::numeric_limits<Time>::min() / 2;
};

}  // namespace ttmem::recording
