// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/unique_fd.hpp"
#include "read/collector/run_segments.hpp"
#include "read/model/run_summary.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// Watches the segments of all descendants of this process, and reads each segment when its process
// has ended, so that peaks and leaks are exact.
//
// RunSegments finds the segments: construct RunWatch before the first process starts, and call
// look() before waitpid() reports the end of a child. RunSummary::unknown_processes counts the
// processes that RunSegments calls strangers. Use it in one thread at a time.
class RunWatch {
 public:
  explicit RunWatch(const std::string& directory);

  // Returns a descriptor that is readable when look() has something to do; -1 if the directory
  // cannot be watched. The summary then has a warning with the reason.
  [[nodiscard]] int fd() const { return found_.fd(); }
  // Returns the id of the run in $TTMEM_RUN.
  [[nodiscard]] const std::string& run() const { return found_.id(); }

  // Opens new segments, and records the holders of memory if more memory is in use than at any
  // earlier look. Returns how long to wait for the next call, unless fd() becomes readable before.
  std::chrono::milliseconds look();

  // Returns the summary. Call it once, when the command has ended.
  [[nodiscard]] model::RunSummary finish();

 private:
  using Key = std::tuple<std::uint64_t, std::int32_t>;  // creation time of the segment, pid
  struct Process {
    model::RunProcess process;
    std::vector<model::LabelTotal> held;
  };

  // Opens new segments. Returns true if it opened at least one.
  [[nodiscard]] bool open_new();
  bool sample();
  void note_fullest(const std::vector<segment::SegmentImage>& images);

  RunSegments found_;
  std::vector<UniqueFd> segments_;    // segments of living processes
  std::map<Key, Process> processes_;  // the state of each process at the last look
  model::RunSummary summary_;
  std::uint64_t began_ns_ = 0;
  std::chrono::milliseconds pause_{};
};

// Returns the live allocations, summed by kind and label, largest first. Pure function.
[[nodiscard]] std::vector<model::LabelTotal> holders(
    const std::vector<segment::SegmentImage>& images);

}  // namespace ttmem::collector
