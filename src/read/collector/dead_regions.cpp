// SPDX-License-Identifier: Apache-2.0
// Finds and removes TT-Metal's regions with rows of dead processes.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "read/collector/collector.hpp"
#include "read/collector/gather.hpp"
#include "read/collector/process_info.hpp"

namespace ttmem::collector {
namespace {

constexpr std::size_t kMaxMapsBytes = 64 << 20;

// Returns true if a process that this user may inspect has the file mapped. TT-Metal maps the file
// for the lifetime of the process. The search also finds processes in containers, whose pids in the
// region are meaningless here.
bool is_mapped(const struct stat& file) {
  const std::string place =
      fmt::format(" {:02x}:{:02x} {} ", major(file.st_dev), minor(file.st_dev), file.st_ino);
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    if (!parse_number<std::int32_t>(entry.path().filename().string())) continue;
    if (read_text(entry.path() / "maps", kMaxMapsBytes).find(place) != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool is_dead(const RowEvidence& row) { return row.state == model::State::dead; }

}  // namespace

DeadRegions find_dead_regions(const std::string& directory) {
  DeadRegions found;
  for (const RegionEvidence& region : gather(directory).regions) {
    if (std::none_of(region.rows.begin(), region.rows.end(), is_dead)) continue;
    DeadRegion dead{.path = directory + "/" + region.file,
                    .uid = region.uid,
                    .device_id = region.device_id,
                    .in_use = !std::all_of(region.rows.begin(), region.rows.end(), is_dead),
                    .dead = {}};
    std::copy_if(region.rows.begin(), region.rows.end(), std::back_inserter(dead.dead), is_dead);
    struct stat file {};
    if (::lstat(dead.path.c_str(), &file) != 0) continue;
    dead.in_use = dead.in_use || is_mapped(file);
    found.push_back(std::move(dead));
  }
  return found;
}

ReapReport reap_regions(const DeadRegions& regions) {
  ReapReport report;
  for (const DeadRegion& region : regions) {
    if (region.in_use) continue;
    if (::unlink(region.path.c_str()) == 0) {
      ++report.removed;
    } else if (errno != ENOENT) {
      report.warnings.push_back(fmt::format("cannot remove {}: {}; run ttmem as its owner",
                                            region.path, std::generic_category().message(errno)));
    }
  }
  return report;
}

}  // namespace ttmem::collector
