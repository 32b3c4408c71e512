// SPDX-License-Identifier: Apache-2.0
//
// Finds and opens the files of a directory that could be segments or regions. Anybody may put
// anything there: nothing may block, no link is followed, nothing is trusted.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// What the name `ttmem.<uid>.<pid>.<start time>` claims. A number follows when processes of several
// pid namespaces have the same pid and start time; `.socket` ends it when a server writes the
// segment for that process.
struct SegmentName {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
  std::uint64_t start_time_ticks = 0;
  std::uint32_t number = 0;  // 0: none
  bool for_client = false;

  friend bool operator==(const SegmentName&, const SegmentName&) = default;
};
[[nodiscard]] std::optional<SegmentName> parse_segment_name(std::string_view name);

// The name of the segment that a file is a copy of, made when memory did not suffice. With
// `.failed.new` at its end it is not complete.
struct FailedName {
  std::string segment;
  bool is_complete = true;
};
[[nodiscard]] std::optional<FailedName> parse_failed_name(std::string_view name);

// The name of a segment that a reader asked for (TTMEM_KEEP_FOR): `....ended.<pid>.<namespace>`.
struct KeptName {
  std::string segment;
  std::int32_t reader = 0;
  std::uint32_t pid_namespace = 0;  // of `reader`; 0: that of the process that wrote the segment
};
[[nodiscard]] std::optional<KeptName> parse_kept_name(std::string_view name);

// The user of the process that a segment is about. Only root may write for another user.
[[nodiscard]] std::uint32_t user_of(const SegmentName& name, const segment::SegmentImage& image,
                                    std::uint32_t file_owner);

// An open directory and the names in it that a pass reads, sorted.
struct Listing {
  std::string directory;
  UniqueFd fd;
  std::vector<std::string> segments;
  std::vector<std::string> failed;  // copies of segments, complete or not
  std::vector<std::string> kept;    // segments that readers asked for
  std::vector<std::string> marks;   // of processes without a segment (untracked_marks.hpp)
  std::vector<std::string> regions;

  [[nodiscard]] std::string path_of(const std::string& name) const {
    return directory + "/" + name;
  }
};
// Fails when the directory is missing or may not be read.
[[nodiscard]] Result<Listing> list_directory(const std::string& directory);

// Files that this user may not read or remove, by owner, for one warning each.
class DeniedFiles {
 public:
  explicit DeniedFiles(std::string verb) : verb_(std::move(verb)) {}  // "read", "remove"
  void add(std::uint32_t owner) { ++count_of_[owner]; }
  void append_warnings(const std::string& directory, std::vector<std::string>& warnings) const;

 private:
  std::string verb_;
  std::map<std::uint32_t, std::uint64_t> count_of_;
};

struct OpenFile {
  UniqueFd fd;
  struct stat facts {};
};

// Opens a regular file of the listing for reading. None when it is gone, which is not an error;
// when it may not be read (added to `denied`); or when it is not a regular file (a warning).
[[nodiscard]] std::optional<OpenFile> open_file(const Listing& listing, const std::string& name,
                                                DeniedFiles& denied,
                                                std::vector<std::string>& warnings);

// Whether the writer of a segment lives: it holds a lock for life, and the kernel drops the lock
// with the writer's last descriptor. Call only once the header is complete, which is after the lock
// was taken: an earlier call could make the writer's own locking fail.
enum class Owner : std::uint8_t { alive, gone, unknown };
[[nodiscard]] Owner owner_of(int fd);

// Locks a file whose owner is gone, so that no other process removes the file, or creates it again
// after exec(), at the same time. Returns false if the owner lives. Readers hold the lock for
// microseconds, so it tries for 20 ms.
[[nodiscard]] bool lock_to_remove(int fd);

}  // namespace ttmem::collector
