// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "collector/collector.hpp"
#include "collector/process_info.hpp"
#include "collector/saturating.hpp"
#include "collector/segment_files.hpp"
#include "segment/segment_map.hpp"
#include "segment/segment_reader.hpp"

namespace ttmem::collector {
namespace {

using segment::HeaderState;

// Whoever makes a segment needs microseconds between creating and locking the file. A process that
// /proc no longer shows makes none; one that it shows, or that lives in another pid namespace and
// shares a pid with one here, gets some grace.
bool may_be_in_the_making(const std::string& name, const OpenFile& file) {
  constexpr std::uint64_t seconds_of_grace = 10;
  if (!process_facts(parse_segment_name(name)->pid)) return false;
  const auto changed = static_cast<std::uint64_t>(file.facts.st_mtim.tv_sec);
  return changed + seconds_of_grace > clock_ns(CLOCK_REALTIME) / 1'000'000'000;
}

void add_holdings(const segment::SegmentImage& image, Reaped& reaped) {
  const auto add = [](std::uint64_t& sum, std::uint64_t part) { sum = saturating_add(sum, part); };
  for (const segment::DeviceImage& device : image.devices) {
    add(reaped.dram_bytes, device.kinds[segment::kDramKind].used_bytes);
    add(reaped.l1_bytes, device.kinds[segment::kL1Kind].used_bytes);
    add(reaped.l1_small_bytes, device.kinds[segment::kL1SmallKind].used_bytes);
    add(reaped.trace_bytes, device.kinds[segment::kTraceKind].used_bytes);
    add(reaped.kernels_bytes, device.kinds[segment::kKernelKind].used_bytes);
    add(reaped.cb_bytes, device.cb_physical_bytes);
    for (const auto& kind : device.kinds) add(reaped.allocations, kind.live);
  }
}

class Reaper {
 public:
  Reaper(const Listing& listing, bool dry_run) : listing_(listing), dry_run_(dry_run) {}

  ReapReport run() {
    for (const std::string& name : listing_.segments) reap(name);
    denied_.append_warnings(listing_.directory, report_.warnings);
    return std::move(report_);
  }

 private:
  void reap(const std::string& name) {
    const std::optional<OpenFile> file = open_file(listing_, name, denied_, report_.warnings);
    if (!file) return;
    const segment::FdSource source(file->fd.get());
    const HeaderState state = header_state(source);
    const bool segment = state == HeaderState::complete || state == HeaderState::other_version;
    if (state == HeaderState::foreign) {
      report_.warnings.push_back(
          fmt::format("left {} alone: it is not a segment of ttmem; remove or rename it",
                      listing_.path_of(name)));
      return;
    }
    if (!segment && may_be_in_the_making(name, *file)) return;
    // Exclusive, and kept until the file is closed: nobody else reaps it at the same time.
    if (::flock(file->fd.get(), LOCK_EX | LOCK_NB) != 0) return;
    Reaped reaped = describe(name, source, file->facts.st_uid);
    if (dry_run_ || remove(name, *file)) report_.reaped.push_back(std::move(reaped));
  }

  // Whatever cannot be read, the name of the file still says whose it was.
  Reaped describe(const std::string& name, const segment::ByteSource& source,
                  std::uint32_t file_owner) const {
    Reaped reaped;
    reaped.path = listing_.path_of(name);
    reaped.pid = parse_segment_name(name)->pid;
    reaped.user = user_name(file_owner);
    if (const auto image = segment::read_segment(source)) {
      reaped.pid = image->pid;
      reaped.name = image->name;
      add_holdings(*image, reaped);
    }
    return reaped;
  }

  bool remove(const std::string& name, const OpenFile& file) {
    struct stat now {};
    const int directory = listing_.fd.get();
    const bool there = ::fstatat(directory, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    const bool same = there && now.st_dev == file.facts.st_dev && now.st_ino == file.facts.st_ino;
    if (!same) return false;  // removed meanwhile, perhaps made anew
    if (::unlinkat(directory, name.c_str(), 0) == 0) return true;
    const int error = errno;
    if (error == EACCES || error == EPERM) {
      denied_.add(file.facts.st_uid);
    } else if (error != ENOENT) {
      report_.warnings.push_back(fmt::format("cannot remove {}: {}; remove it by hand",
                                             listing_.path_of(name),
                                             std::generic_category().message(error)));
    }
    return false;
  }

  const Listing& listing_;
  const bool dry_run_;
  DeniedFiles denied_{"remove"};
  ReapReport report_;
};

}  // namespace

ReapReport reap(const std::string& directory, bool dry_run) {
  const Result<Listing> listing = list_directory(directory);
  if (!listing) return {.reaped = {}, .warnings = {listing.error().message}};
  return Reaper(*listing, dry_run).run();
}

}  // namespace ttmem::collector
