// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "base/saturating.hpp"
#include "read/collector/collector.hpp"
#include "read/collector/failed_copy.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/run_id.hpp"
#include "read/collector/segment_files.hpp"
#include "segment/reader/run_ids.hpp"
#include "segment/reader/segment_map.hpp"
#include "segment/reader/segment_reader.hpp"

namespace ttmem::collector {
namespace {

using segment::HeaderState;

// Returns the name of the segment to which a file belongs. The file can be the segment, a segment
// that was renamed, or a copy of the segment.
std::string segment_of(const std::string& name) {
  if (const auto failed = parse_failed_name(name)) return failed->segment;
  if (const auto kept = parse_kept_name(name)) return kept->segment;
  return name;
}

// Returns the state of the reader for which the segment was kept; unknown for a reader of another
// pid namespace. A process that started after the file got its name is another process with the
// same pid.
Owner reader_of(const KeptName& kept, const OpenFile& file) {
  const bool is_visible = kept.pid_namespace == 0 || kept.pid_namespace == own_pid_namespace();
  if (!is_visible) return Owner::unknown;
  const auto facts = process_facts(kept.reader);
  constexpr std::uint64_t second = 1'000'000'000;
  const auto named_unix_ns = static_cast<std::uint64_t>(file.facts.st_ctim.tv_sec) * second;
  constexpr std::uint64_t slack = 5 * second;  // for a change of the wall clock
  const bool lives =
      facts && !facts->is_ending && start_unix_ns(facts->start_time_ticks) <= named_unix_ns + slack;
  return lives ? Owner::alive : Owner::gone;
}

// Returns true if a writer may still be creating the file. A writer needs only microseconds from
// creating to locking the file. A file counts as being created if it changed in the last ten
// seconds and /proc shows a process with the pid in its name, even if another process has this pid
// now.
bool may_be_in_the_making(const std::string& name, const OpenFile& file) {
  constexpr std::uint64_t seconds_of_grace = 10;
  if (!process_facts(parse_segment_name(segment_of(name))->pid)) return false;
  const auto changed = static_cast<std::uint64_t>(file.facts.st_mtim.tv_sec);
  return changed + seconds_of_grace > clock_ns(CLOCK_REALTIME) / 1'000'000'000;
}

// Returns true if the run of the segment has a living reader, which may not have read the segment
// yet.
bool is_recorded(const OpenFile& file) {
  return has_reader(segment::read_run_ids(segment::FdSource(file.fd.get())));
}

std::vector<std::uint32_t> ids_of(const segment::SegmentImage& image,
                                  const segment::LiveAllocation& allocation) {
  std::vector<std::uint32_t> ids;
  for (const std::uint32_t device : devices_of(allocation)) ids.push_back(image.devices[device].id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<HeldAllocation> largest_of(const segment::SegmentImage& image) {
  std::vector<HeldAllocation> held;
  held.reserve(image.allocations.size());
  for (const segment::LiveAllocation& allocation : image.allocations) {
    const segment::DeviceImage& device = image.devices[allocation.device];
    const bool sized = allocation.bytes_per_bank && allocation.banks;
    held.push_back(
        {.device = device.id,
         .devices = ids_of(image, allocation),
         .uid = device.uid,
         .kind = allocation.kind,
         .id = allocation.id,
         .address = allocation.address,
         .bytes = allocation.bytes,
         .used_bytes = sized ? *allocation.bytes_per_bank * *allocation.banks : allocation.bytes,
         .label = allocation.label});
  }
  const auto middle =
      held.begin() + static_cast<std::ptrdiff_t>(std::min(kLargestHeld, held.size()));
  std::partial_sort(held.begin(), middle, held.end(), [](const auto& a, const auto& b) {
    return std::tie(b.used_bytes, a.device, a.id) < std::tie(a.used_bytes, b.device, b.id);
  });
  held.erase(middle, held.end());
  return held;
}

// Describes a dead segment. If the content cannot be read, the pid comes from the file name.
DeadSegment describe(const Listing& listing, const std::string& name, const OpenFile& file) {
  DeadSegment dead;
  dead.path = listing.path_of(name);
  const SegmentName parsed = *parse_segment_name(segment_of(name));
  dead.pid = parsed.pid;
  dead.abandoned = parsed.for_client;
  dead.user = user_name(file.facts.st_uid);
  if (const auto image = segment::read_segment(segment::FdSource(file.fd.get()))) {
    dead.readable = true;
    dead.abandoned = parsed.for_client && !image->client_ended;
    dead.user = user_name(user_of(parsed, *image, file.facts.st_uid));
    dead.pid = image->pid;
    const std::uint32_t here = own_pid_namespace();
    const bool known = here != 0 && image->pid_namespace != 0;
    if (known && image->pid_namespace != here) dead.pid_namespace = image->pid_namespace;
    dead.name = image->name;
    dead.command = image->command;
    dead.job = image->job;
    dead.clean_exit = image->clean_exit;
    dead.largest = largest_of(*image);
    if (image->failure && parse_failed_name(name)) {
      dead.failure = image->failure->text.substr(0, image->failure->text.find('\n'));
    }
    for (const segment::DeviceImage& device : image->devices) {
      merge(dead.kinds, device.kinds);
      dead.kernels_estimated_bytes =
          saturating_add(dead.kernels_estimated_bytes, device.kernel_estimated_bytes);
      dead.cb_estimate = dead.cb_estimate || device.cb_estimate;
    }
  }
  return dead;
}

class Reaper {
 public:
  explicit Reaper(const Listing& listing) : listing_(listing) {}

  // Finds the dead segments that a server abandoned, or, if `abandoned` is false, all other dead
  // segments.
  DeadSegments find(const std::vector<std::string>& names, bool abandoned) {
    DeadSegments found;
    for (const std::string& name : names) {
      const std::optional<SegmentName> parsed = parse_segment_name(segment_of(name));
      if (!parsed || (abandoned && !parsed->for_client)) continue;
      const auto file = open_dead(name);
      if (!file) continue;
      DeadSegment dead = describe(listing_, name, *file);
      if (dead.abandoned == abandoned) found.segments.push_back(std::move(dead));
    }
    found.warnings = finish();
    return found;
  }

  ReapReport remove(const std::vector<DeadSegment>& dead) {
    std::set<std::string> paths;
    for (const DeadSegment& segment : dead) paths.insert(segment.path);
    ReapReport report;
    for (const auto* names : {&listing_.segments, &listing_.failed, &listing_.kept}) {
      for (const std::string& name : *names) {
        if (!paths.contains(listing_.path_of(name))) continue;
        const auto file = open_dead(name);
        if (file && remove(name, *file)) ++report.removed;
      }
    }
    report.warnings = finish();
    return report;
  }

 private:
  std::vector<std::string> finish() {
    denied_.append_warnings(listing_.directory, warnings_);
    return std::move(warnings_);
  }

  // Opens a dead segment. Returns nullopt if the file is not a segment, or if the segment is not
  // dead. Checks the owner with a shared lock, because another reader would mistake an exclusive
  // lock for the lock of a living owner.
  std::optional<OpenFile> open_dead(const std::string& name) {
    std::optional<OpenFile> file = open_file(listing_, name, denied_, warnings_);
    if (!file) return std::nullopt;
    const HeaderState state = header_state(segment::FdSource(file->fd.get()));
    const bool complete = state == HeaderState::complete || state == HeaderState::other_version;
    if (state == HeaderState::foreign) {
      warnings_.push_back(
          fmt::format("not removed: {} is not a segment of ttmem; remove or rename it yourself",
                      listing_.path_of(name)));
      return std::nullopt;
    }
    if (!complete && may_be_in_the_making(name, *file)) return std::nullopt;
    return owner_of_file(name, *file) == Owner::gone ? std::move(file) : std::nullopt;
  }

  // Returns the state of the file's owner: the process that writes the segment, or the reader for
  // which the file was kept.
  [[nodiscard]] Owner owner_of_file(const std::string& name, const OpenFile& file) const {
    if (const auto kept = parse_kept_name(name)) return reader_of(*kept, file);
    const std::string segment = segment_of(name);
    if (segment != name) return owner_of(listing_, segment);
    const Owner owner = owner_of(file.fd.get());
    if (owner != Owner::gone || !is_recorded(file)) return owner;
    return Owner::alive;  // not listed as dead, because `ttmem record` removes it
  }

  bool remove(const std::string& name, const OpenFile& file) {
    if (!lock_to_remove(file.fd.get())) {
      warnings_.push_back(fmt::format("cannot remove {}: another process holds its lock; try again",
                                      listing_.path_of(name)));
      return false;
    }
    struct stat now {};
    const int directory = listing_.fd.get();
    const bool there = ::fstatat(directory, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    const bool same = there && now.st_dev == file.facts.st_dev && now.st_ino == file.facts.st_ino;
    if (!same) return false;  // the name is gone, or names a new file
    if (::unlinkat(directory, name.c_str(), 0) == 0) return true;
    const int error = errno;
    if (error == EACCES || error == EPERM) {
      denied_.add(file.facts.st_uid);
    } else if (error != ENOENT) {
      warnings_.push_back(fmt::format("cannot remove {}: {}; remove it by hand",
                                      listing_.path_of(name),
                                      std::generic_category().message(error)));
    }
    return false;
  }

  const Listing& listing_;
  DeniedFiles denied_{"remove"};
  std::vector<std::string> warnings_;
};

// Finds the dead segments among the files that `names` selects from the listing.
template <typename Names>
DeadSegments find(const std::string& directory, bool abandoned, Names&& names) {
  const Result<Listing> listing = list_directory(directory);
  if (!listing) return {.segments = {}, .warnings = {listing.error().message}};
  return Reaper(*listing).find(names(*listing), abandoned);
}

const std::vector<std::string>& all_segments(const Listing& listing) { return listing.segments; }

}  // namespace

DeadSegments find_dead(const std::string& directory) {
  return find(directory, false, all_segments);
}

DeadSegments find_dead(const std::string& directory, const std::vector<std::string>& names) {
  return find(
      directory, false, [&](const Listing&) -> const auto& { return names; });
}

DeadSegments find_failed(const std::string& directory) {
  return find(
      directory, false, [](const Listing& listing) -> const auto& { return listing.failed; });
}

DeadSegments find_kept(const std::string& directory) {
  return find(
      directory, false, [](const Listing& listing) -> const auto& { return listing.kept; });
}

DeadSegments find_abandoned(const std::string& directory) {
  return find(directory, true, all_segments);
}

ReapReport reap(const std::string& directory, const std::vector<DeadSegment>& dead) {
  const Result<Listing> listing = list_directory(directory);
  if (!listing) return {.removed = 0, .warnings = {listing.error().message}};
  return Reaper(*listing).remove(dead);
}

}  // namespace ttmem::collector
