// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/unique_fd.hpp"
#include "read/collector/claim.hpp"
#include "read/collector/segment_files.hpp"
#include "read/collector/untracked_marks.hpp"

namespace ttmem::collector {

// Returns the maximum number of segments that this process can have open at once, beside its other
// files.
[[nodiscard]] std::size_t max_open_segments();

// Finds the segments of all descendants of this process.
//
// - A segment names the runs of its process ($TTMEM_RUN), however short the process lived.
// - A process that exits cleanly, or calls exec, leaves its segment under another name
//   (TTMEM_KEEP_FOR). A killed process leaves its segment under the old name.
// - If a segment names no run (an older library, a cleared environment), the parents of the process
//   are looked up while the process lives. A process that ended before the lookup is a stranger:
//   its parents are unknown.
// If a reader runs inside the run of another reader, only the outermost reader removes segments. It
// keeps segments that an inner reader still wants.
//
// Construct it before the first process starts, and call open_new() before waitpid() reports the
// end of a child. Sets TTMEM_RUN and TTMEM_KEEP_FOR for this process. Use it in one thread at a
// time.
class RunSegments {
 public:
  // Tells whether release() removes the segments of killed processes.
  enum class Evidence : std::uint8_t { stays, is_removed };

  RunSegments(const std::string& directory, Evidence evidence);
  ~RunSegments();  // removes the segments kept for this reader
  RunSegments(const RunSegments&) = delete;
  RunSegments& operator=(const RunSegments&) = delete;

  // Returns a descriptor that is readable when open_new() has something to do; -1 if the directory
  // cannot be watched.
  [[nodiscard]] int fd() const { return events_.get(); }
  // Returns the reason why the directory cannot be watched; empty if the directory is watched.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // Returns the id of this run in $TTMEM_RUN.
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& directory() const { return listing_.directory; }

  // Opens at most `room` segments that are new and complete. Returns each segment only once.
  [[nodiscard]] std::vector<UniqueFd> open_new(std::size_t room);
  // Returns true if segments are left that found no room or are not complete.
  [[nodiscard]] bool has_more() const { return !names_.empty() || !starting_.empty(); }
  // Queues every segment of the directory for open_new(). Call it at the end. After this call,
  // open_new() gives up the incomplete file of an ended process at once. Before this call,
  // open_new() waits for two seconds after the last change of the file.
  void list();

  // Takes back a segment from open_new(). Call it after the process of the segment has ended and
  // the whole segment was read.
  void release(UniqueFd segment);
  // Removes the segments that inner readers no longer want and, with Evidence::is_removed, the
  // marks of this run's processes that had no segment. Call it at the end, after the last
  // release().
  void clean_up();

  // Returns the number of processes that may belong to this run, but ended before their parents
  // were looked up.
  [[nodiscard]] std::uint64_t strangers() const { return strangers_; }
  // Returns the number of processes of the run that could not have a segment, by reason.
  [[nodiscard]] const NotTracked& not_tracked() const { return not_tracked_; }
  // Returns warnings about files that could not be read, with the reasons.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  enum class Lineage : std::uint8_t { ours, others, unknown };
  // Identifies a segment by device, inode, creation time and pid. Device and inode are not enough,
  // because inode numbers are reused.
  using Key = std::tuple<dev_t, ino_t, std::uint64_t, std::int32_t>;
  struct Known {
    std::set<std::string> names;
    std::vector<std::string> runs;
    bool is_released = false;
    bool is_deferred = false;  // an inner reader may still want the segment
  };

  void read_events();
  void add_all_names();
  [[nodiscard]] bool take(const std::string& name, std::vector<UniqueFd>& opened);
  void take_complete(const std::string& name, const SegmentName& segment, OpenFile file,
                     std::vector<UniqueFd>& opened);
  [[nodiscard]] bool is_starting(const std::string& name, const SegmentName& segment,
                                 const OpenFile& file);
  [[nodiscard]] Lineage lineage_of(const std::string& name, const SegmentName& segment);
  [[nodiscard]] bool is_claim_right(const std::string& name, const SegmentName& segment,
                                    const OpenFile& file);
  void note_mark(const std::string& name);
  [[nodiscard]] bool is_kept_for_us(const std::string& name) const;
  [[nodiscard]] bool is_wanted_by_inner_run(const std::vector<std::string>& runs,
                                            int segment) const;
  [[nodiscard]] bool remove_names(Known& known, int segment);
  void remove_deferred();
  void warn(std::string warning);
  void remove_kept();

  Listing listing_;
  UniqueFd events_;
  std::string failure_;
  std::string id_;
  std::string public_id_;  // id in the marks of processes without a segment
  Evidence evidence_;
  bool is_outermost_ = true;
  bool is_ending_ = false;
  std::uint64_t began_ns_;
  std::uint64_t began_unix_ns_;
  std::uint64_t next_removal_ns_ = 0;
  std::deque<std::string> names_;            // names of files to open
  std::deque<std::string> starting_;         // names of incomplete files
  std::uint64_t next_starting_ns_ = 0;       // time of the next look at incomplete files
  std::map<std::string, Lineage> lineages_;  // by name, of incomplete segments
  std::map<Key, Known> known_;
  std::set<std::string> marks_;
  NotTracked not_tracked_;
  std::uint64_t strangers_ = 0;
  ClaimChecker claims_;
  DeniedFiles denied_{"read"};
  std::vector<std::string> warnings_;
};

}  // namespace ttmem::collector
