// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "collector/run_segments.hpp"
#include "model/run_summary.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// Watches the segments of the processes that this process started, of those that they started, and
// so on, and reads them at the end: peaks and what was left are exact.
//
// RunSegments finds them: make it before the first process starts, and call look() before the end
// of a child is taken by waitpid(). RunSummary::unknown_processes counts strangers that were
// killed. One thread at a time.
class RunWatch {
 public:
  explicit RunWatch(const std::string& directory);

  // Readable when look() has something to do; -1: the directory cannot be watched, and the summary
  // has a warning that says why.
  [[nodiscard]] int fd() const { return found_.fd(); }

  // Opens new segments, and keeps the holders of memory of the fullest moment so far. Returns how
  // long to wait for the next call, if fd() does not become readable before.
  std::chrono::milliseconds look();

  // Call it once, when the command has ended.
  [[nodiscard]] model::RunSummary finish();

 private:
  bool open(std::vector<UniqueFd> segments);
  void count_strangers();
  void sample();
  [[nodiscard]] std::vector<segment::SegmentImage> read() const;

  RunSegments found_;
  std::vector<UniqueFd> segments_;
  model::RunSummary summary_;
  std::uint64_t began_ns_ = 0;
  std::chrono::milliseconds pause_{};
};

// What the images of processes say at the end, without what only a RunWatch knows. Pure.
[[nodiscard]] model::RunSummary summarize(const std::vector<segment::SegmentImage>& images);

// The live buffers and kernels, added up by kind and label, the largest first. Pure.
[[nodiscard]] std::vector<model::Holder> holders(const std::vector<segment::SegmentImage>& images);

}  // namespace ttmem::collector
