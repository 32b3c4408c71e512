// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "collector/segment_files.hpp"
#include "model/run_summary.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// Watches the segments of the processes that this process started, of those that they started, and
// so on, and reads them at the end: peaks and what was left are exact.
//
// - Each segment is opened as soon as it is there, and its process looked up, while it lives.
// - A process that ends well leaves its segment under another name (TTMEM_KEEP_FOR), however short
//   its life was.
// - One that is killed leaves its segment as it is. When look() did not see it alive, nobody knows
//   who had started it: RunSummary::unknown_processes counts it.
//
// Make it before the first process starts, and call look() before the end of a child is taken by
// waitpid(). Sets TTMEM_KEEP_FOR for this process. One thread at a time.
class RunWatch {
 public:
  explicit RunWatch(const std::string& directory);
  ~RunWatch();  // removes the segments that were kept
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Readable when look() has something to do; -1: the directory cannot be watched, and the summary
  // has a warning that says why.
  [[nodiscard]] int fd() const { return events_.get(); }

  // Opens new segments, and keeps the holders of memory of the fullest moment so far. Returns how
  // long to wait for the next call, if fd() does not become readable before.
  std::chrono::milliseconds look();

  // Call it once, when the command has ended.
  [[nodiscard]] model::RunSummary finish();

 private:
  void open_new();
  void open_segment(const std::string& name);
  void open_kept();
  void sample();
  [[nodiscard]] std::vector<segment::SegmentImage> read() const;

  Listing listing_;
  UniqueFd events_;
  DeniedFiles denied_{"read"};
  std::vector<UniqueFd> segments_;
  std::vector<UniqueFd> strangers_;  // whose process had ended before it was looked up
  model::RunSummary summary_;
  std::uint64_t began_ns_ = 0;
  std::chrono::milliseconds pause_{};
};

// What the images of processes say at the end, without what only a RunWatch knows. Pure.
[[nodiscard]] model::RunSummary summarize(const std::vector<segment::SegmentImage>& images);

// The live buffers and kernels, added up by kind and label, the largest first. Pure.
[[nodiscard]] std::vector<model::Holder> holders(const std::vector<segment::SegmentImage>& images);

}  // namespace ttmem::collector
