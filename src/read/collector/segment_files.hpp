// SPDX-License-Identifier: Apache-2.0
// Finds and opens the files of a directory that could be segments or regions. Any user may put any
// file there, so no call may block, no link is followed, and no content is trusted.
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

// The parts of a segment's file name, `ttmem.<uid>.<pid>.<start time>`. A number follows if
// processes of several pid namespaces have the same pid and start time. The name ends with
// `.socket` if a server writes the segment for the process.
struct SegmentName {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
  std::uint64_t start_time_ticks = 0;
  std::uint32_t number = 0;  // 0 if there is none
  bool for_client = false;

  friend bool operator==(const SegmentName&, const SegmentName&) = default;
};
[[nodiscard]] std::optional<SegmentName> parse_segment_name(std::string_view name);

// The name of a copy of a segment, made at an out-of-memory error: `<segment>.failed`, or
// `<segment>.failed.new` while the copy is incomplete.
struct FailedName {
  std::string segment;
  bool is_complete = true;
};
[[nodiscard]] std::optional<FailedName> parse_failed_name(std::string_view name);

// The name of a segment that was kept for a reader (TTMEM_KEEP_FOR):
// `<segment>.ended.<pid>.<namespace>`, with the reader's pid and pid namespace.
struct KeptName {
  std::string segment;
  std::int32_t reader = 0;
  std::uint32_t pid_namespace = 0;  // namespace of `reader`; 0: the segment writer's own namespace
};
[[nodiscard]] std::optional<KeptName> parse_kept_name(std::string_view name);

// Returns the user of the process that a segment describes: the owner of the file. If root's server
// wrote the segment for a client, returns the user that the segment states.
[[nodiscard]] std::uint32_t user_of(const SegmentName& name, const segment::SegmentImage& image,
                                    std::uint32_t file_owner);

// An open directory, and the sorted names of the files that a pass reads.
struct Listing {
  std::string directory;
  UniqueFd fd;
  std::vector<std::string> segments;
  std::vector<std::string> failed;  // copies made after out-of-memory errors
  std::vector<std::string> kept;    // segments kept for readers
  std::vector<std::string> marks;   // marks of processes without a segment (untracked_marks.hpp)
  std::vector<std::string> regions;

  [[nodiscard]] std::string path_of(const std::string& name) const {
    return directory + "/" + name;
  }
};
// Fails if the directory is missing or may not be read.
[[nodiscard]] Result<Listing> list_directory(const std::string& directory);

// Counts the files that this user may not read or remove, by owner, to make one warning per owner.
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

// Opens a regular file of the listing for reading. Returns nullopt if the file is gone, which is
// not an error. If this user may not read the file, adds the file to `denied` and returns nullopt.
// If the open fails for another reason or the file is not regular, adds a warning and returns
// nullopt.
[[nodiscard]] std::optional<OpenFile> open_file(const Listing& listing, const std::string& name,
                                                DeniedFiles& denied,
                                                std::vector<std::string>& warnings);

// The state of a segment's writer. The writer holds a lock on the segment for its lifetime, and the
// kernel drops the lock when the writer's last descriptor is closed. Call owner_of() only after the
// header is complete. owner_of() locks the file for a moment. An earlier call could make the
// writer's own lock attempt fail, because the writer locks the file before it completes the header.
enum class Owner : std::uint8_t { alive, gone, unknown };
[[nodiscard]] Owner owner_of(int fd);

// Locks a file whose owner is gone, so that no other process removes the file, or creates it again
// after exec(), at the same time. Returns false if another process holds the lock for 20 ms.
// Readers hold the lock only for microseconds.
[[nodiscard]] bool lock_to_remove(int fd);

}  // namespace ttmem::collector
