// SPDX-License-Identifier: Apache-2.0
#include "collector/segment_warnings.hpp"

#include <fmt/core.h>

#include <system_error>

namespace ttmem::collector {
namespace {

// "3 programs", "1 program".
std::string counted(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string reason(std::int32_t error) {
  return error == 0 ? "its segment is as large as it can be"
                    : std::generic_category().message(error);
}

}  // namespace

void add_segment_warnings(const SegmentEvidence& segment, const std::string& directory,
                          std::vector<std::string>& warnings) {
  const segment::SegmentImage& image = segment.image;
  const std::string who = fmt::format("process {} ({})", image.pid, image.name);
  const std::string next_step = fmt::format(
      "free space in {} (`ttmem clean` removes what dead processes left) and start the "
      "process again",
      directory);
  const auto warn = [&](std::uint64_t count, const char* one, const char* effect) {
    if (count == 0) return;
    warnings.push_back(fmt::format("{}: {} {}: {}; {}", who, counted(count, one), effect,
                                   reason(image.last_error), next_step));
  };
  warn(image.dropped_allocations, "allocation", "counted but not listed");
  warn(image.dropped_programs, "program", "counted but not listed");
  warn(image.dropped_calls, "call", "not recorded at all, so that its figures are too low");
  const bool dropped =
      image.dropped_allocations + image.dropped_programs + image.dropped_calls != 0;
  if (image.last_error != 0 && !dropped) {
    warnings.push_back(fmt::format("{}: its segment could not grow: {}; {}", who,
                                   reason(image.last_error), next_step));
  }
  if (image.invalid_records != 0) {
    warnings.push_back(
        fmt::format("{}: left {} out that cannot be true; update the libttmem that it uses", who,
                    counted(image.invalid_records, "record")));
  }
}

}  // namespace ttmem::collector
