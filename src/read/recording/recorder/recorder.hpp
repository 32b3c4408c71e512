// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/recorder/recorded_process.hpp"

namespace ttmem::recording {

// Records the segments of processes, which do not notice. Not thread-safe; `writer` must outlive
// it.
class Recorder {
 public:
  // Times count from `began_ns` of the monotonic clock.
  Recorder(Writer& writer, std::uint64_t began_ns);

  // Records the process of this segment from now on. Nothing happens when it is one that is
  // recorded already. The process began at `earliest` or later, whatever its clock says.
  void add(UniqueFd segment, Time earliest = -kMaxTime);

  enum class Commit : std::uint8_t { when_due, now };
  // Reads and writes what has happened. Call it often: a ring holds what happens in between. Fails
  // when the file cannot be written; then nothing more is.
  [[nodiscard]] Result<void> look(Commit commit = Commit::when_due);
  // The rest, and the last commit. `run` is completed with the counts and the end.
  [[nodiscard]] Result<void> finish(Run& run);

  // Returns the segments of ended processes whose contents are all in the file.
  [[nodiscard]] std::vector<UniqueFd> take_ended() { return std::exchange(ended_segments_, {}); }

  struct Figures {
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
    std::uint64_t processes = 0;   // so far
    std::uint64_t failures = 0;    // times that memory did not suffice
    std::uint64_t used_bytes = 0;  // on all devices, when that was last read
    std::uint64_t peak_bytes = 0;  // the most that used_bytes was
    std::uint64_t elapsed_ns = 0;
    std::uint32_t smallest_ring = 0;  // in records, of the processes that lost events; 0: none did
  };
  [[nodiscard]] Figures figures() const;
  // Returns the figures of the last commit, which the file has even after a failure.
  [[nodiscard]] const Figures& written() const { return written_; }
  // Processes that still run. Those whose segment is incomplete count.
  [[nodiscard]] std::size_t running() const { return processes_.size() + starting_.size(); }

 private:
  void begin_those_that_are_ready();
  void apply_until(Time time);
  void end_those_that_have_ended(Time time);
  void apply_the_rest();
  void refresh(Time time);
  [[nodiscard]] Result<void> write_down();
  [[nodiscard]] bool has_one_ended() const;
  [[nodiscard]] Time now() const;

  Writer& writer_;
  std::uint64_t began_ns_;
  std::set<std::pair<dev_t, ino_t>> files_;
  std::vector<std::unique_ptr<RecordedProcess>> starting_;
  std::vector<std::unique_ptr<RecordedProcess>> processes_;
  Figures ended_;  // of the processes that have ended
  Figures written_;
  std::vector<UniqueFd> ended_segments_;
  std::uint64_t peak_bytes_ = 0;
  Time last_commit_ = std::numeric_limits<Time>::min() / 2;
};

}  // namespace ttmem::recording
