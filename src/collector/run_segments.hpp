// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "collector/segment_files.hpp"

namespace ttmem::collector {

// Finds the segments of the processes that this process started, of those that they started, and so
// on.
//
// - Each segment is opened as soon as it is there, and its process looked up, while it lives.
// - A process that ends well leaves its segment under another name (TTMEM_KEEP_FOR), however short
//   its life was.
// - One that is killed leaves its segment as it is. When it was not seen alive, nobody knows who
//   had started it: it is a stranger.
//
// Make it before the first process starts, and call open_new() before the end of a child is taken
// by waitpid(). Sets TTMEM_KEEP_FOR for this process. One thread at a time.
class RunSegments {
 public:
  explicit RunSegments(const std::string& directory);
  ~RunSegments();  // removes the segments that were kept
  RunSegments(const RunSegments&) = delete;
  RunSegments& operator=(const RunSegments&) = delete;

  // Readable when open_new() has something to do; -1: the directory cannot be watched.
  [[nodiscard]] int fd() const { return events_.get(); }
  // Why not; empty: it can.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  // The segments that are new, open. One may still be incomplete, and one may be there twice.
  [[nodiscard]] std::vector<UniqueFd> open_new();
  // Those that were kept. For the end: most are open already.
  [[nodiscard]] std::vector<UniqueFd> open_kept();
  // Whose process had ended before it was looked up, and perhaps was one of ours.
  [[nodiscard]] const std::vector<UniqueFd>& strangers() const { return strangers_; }
  // What could not be read, and why.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  void open_segment(const std::string& name, std::vector<UniqueFd>& opened);

  Listing listing_;
  UniqueFd events_;
  std::string failure_;
  DeniedFiles denied_{"read"};
  std::vector<std::string> warnings_;
  std::vector<UniqueFd> strangers_;
};

}  // namespace ttmem::collector
