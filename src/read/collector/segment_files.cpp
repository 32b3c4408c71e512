// SPDX-License-Identifier: Apache-2.0
#include "read/collector/segment_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/parse_number.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/tt_metal_region.hpp"
#include "read/collector/untracked_marks.hpp"
#include "segment/layout/layout.hpp"

namespace ttmem::collector {
namespace {

// Removes `.<number>` from the front of `rest`. Accepts digits only, because the writer writes no
// other form.
template <typename Number>
bool take_number(std::string_view& rest, Number& value) {
  if (!rest.starts_with('.')) return false;
  rest.remove_prefix(1);
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto number = parse_number<Number>(rest.substr(0, end));
  rest.remove_prefix(end);
  value = number.value_or(0);
  return number.has_value();
}

std::string reason(int error) { return std::generic_category().message(error); }

const char* what_is(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "a device";
}

std::string wrong_type(const std::string& path, mode_t mode) {
  return fmt::format("left out {}: it is {} and not a regular file; remove it", path,
                     what_is(mode));
}

void refused(const Listing& listing, const std::string& name, int error, DeniedFiles& denied,
             std::vector<std::string>& warnings) {
  struct stat facts {};
  const bool there = ::fstatat(listing.fd.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (error == ENOENT || !there) return;
  if (!S_ISREG(facts.st_mode)) {
    warnings.push_back(wrong_type(listing.path_of(name), facts.st_mode));
  } else if (error == EACCES || error == EPERM) {
    denied.add(facts.st_uid);
  } else {
    warnings.push_back(
        fmt::format("cannot read {}: {}; try again", listing.path_of(name), reason(error)));
  }
}

}  // namespace

std::optional<SegmentName> parse_segment_name(std::string_view name) {
  constexpr std::string_view prefix = "ttmem";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  SegmentName claim;
  const bool numbers = take_number(name, claim.uid) && take_number(name, claim.pid) &&
                       take_number(name, claim.start_time_ticks);
  std::string_view rest = name;
  if (take_number(rest, claim.number) && claim.number != 0) name = rest;
  claim.for_client = name == segment::kProxySuffix;
  return numbers && (name.empty() || claim.for_client) ? std::optional(claim) : std::nullopt;
}

std::optional<FailedName> parse_failed_name(std::string_view name) {
  const bool is_complete = name.ends_with(segment::kFailedSuffix);
  const std::string_view suffix = is_complete ? segment::kFailedSuffix : segment::kUnfinishedSuffix;
  if (!name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  const std::optional<SegmentName> parsed = parse_segment_name(name);
  if (!parsed || parsed->for_client) return std::nullopt;
  return FailedName{std::string(name), is_complete};
}

std::optional<KeptName> parse_kept_name(std::string_view name) {
  const std::size_t at = name.find(segment::kKeptSuffix);
  if (at == std::string_view::npos || !parse_segment_name(name.substr(0, at))) return std::nullopt;
  KeptName kept{.segment = std::string(name.substr(0, at))};
  // The numbers after the suffix, with the dot before each number.
  std::string_view rest = name.substr(at + segment::kKeptSuffix.size() - 1);
  const bool numbers = take_number(rest, kept.reader) && take_number(rest, kept.pid_namespace);
  return numbers && rest.empty() ? std::optional(std::move(kept)) : std::nullopt;
}

std::uint32_t user_of(const SegmentName& name, const segment::SegmentImage& image,
                      std::uint32_t file_owner) {
  return name.for_client && file_owner == 0 ? image.client_uid : file_owner;
}

Result<Listing> list_directory(const std::string& directory) {
  Listing listing;
  listing.directory = directory;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), &::closedir);
  if (entries) listing.fd = UniqueFd(::fcntl(::dirfd(entries.get()), F_DUPFD_CLOEXEC, 0));
  if (!listing.fd) {
    return Error{
        fmt::format("cannot read {}: {}; set TTMEM_DIR to the directory that the tracked "
                    "processes use, or make it readable",
                    directory, reason(errno))};
  }
  while (const struct dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (parse_segment_name(name)) listing.segments.push_back(name);
    if (parse_failed_name(name)) listing.failed.push_back(name);
    if (parse_kept_name(name)) listing.kept.push_back(name);
    if (parse_untracked_name(name)) listing.marks.push_back(name);
    if (is_region_name(name)) listing.regions.push_back(name);
  }
  for (auto* names :
       {&listing.segments, &listing.failed, &listing.kept, &listing.marks, &listing.regions}) {
    std::sort(names->begin(), names->end());
  }
  return listing;
}

void DeniedFiles::append_warnings(const std::string& directory,
                                  std::vector<std::string>& warnings) const {
  for (const auto& [owner, count] : count_of_) {
    const std::string user = user_name(owner);
    const bool one = count == 1;
    warnings.push_back(fmt::format(
        "cannot {} {} segment{} in {}: permission denied; {} to {}, run ttmem as {} to {} {}",
        verb_, count, one ? "" : "s", directory, one ? "it belongs" : "they belong", user, user,
        verb_ == "read" ? "see" : verb_,
        verb_ == "read" ? (one ? "that process" : "those processes") : (one ? "it" : "them")));
  }
}

std::optional<OpenFile> open_file(const Listing& listing, const std::string& name,
                                  DeniedFiles& denied, std::vector<std::string>& warnings) {
  OpenFile file;
  // O_NONBLOCK: opening a FIFO without a writer must not block.
  file.fd = UniqueFd(::openat(listing.fd.get(), name.c_str(),
                              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file.fd || ::fstat(file.fd.get(), &file.facts) != 0) {
    refused(listing, name, errno, denied, warnings);
    return std::nullopt;
  }
  if (!S_ISREG(file.facts.st_mode)) {
    warnings.push_back(wrong_type(listing.path_of(name), file.facts.st_mode));
    return std::nullopt;
  }
  return file;
}

Owner owner_of(int fd) {
  if (::flock(fd, LOCK_SH | LOCK_NB) == 0) {
    ::flock(fd, LOCK_UN);
    return Owner::gone;
  }
  return errno == EWOULDBLOCK ? Owner::alive : Owner::unknown;
}

bool lock_to_remove(int fd) {
  constexpr int tries = 20;
  constexpr struct timespec pause { 0, 1'000'000 };
  for (int i = 0; i < tries; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace ttmem::collector
