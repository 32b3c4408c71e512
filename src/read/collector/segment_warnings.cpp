// SPDX-License-Identifier: Apache-2.0
#include "read/collector/segment_warnings.hpp"

#include <fmt/core.h>

#include <system_error>

#include "base/format_bytes.hpp"
#include "base/plural.hpp"
#include "base/saturating.hpp"

namespace ttmem::collector {
namespace {

// Returns the count and its noun, such as "3 programs" or "1 program".
std::string counted(std::uint64_t count, const std::string& one) {
  return plural(count, one, one + "s");
}

// Adds one warning for all devices together, because closing a mesh with live buffers is one
// mistake.
void add_left_at_close(const segment::SegmentImage& image, const std::string& who,
                       std::vector<std::string>& warnings) {
  if (image.left_at_close.empty()) return;
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
  std::string ids;
  for (const segment::LeftAtCloseImage& left : image.left_at_close) {
    allocations = saturating_add(allocations, left.allocations);
    bytes = saturating_add(bytes, left.bytes);
    ids += fmt::format("{}{}", ids.empty() ? "" : ", ", left.device_id);
  }
  const bool one = image.left_at_close.size() == 1;
  warnings.push_back(fmt::format(
      "{} left {} ({}) on device{} {} when it closed {}; free buffers before closing their device",
      who, counted(allocations, "allocation"), format_bytes(bytes), one ? "" : "s", ids,
      one ? "it" : "them"));
}

}  // namespace

std::string pid_text(const SegmentEvidence& segment) {
  std::string text = fmt::format("{}", segment.image.pid);
  if (!segment.foreign_pid) return text;
  text += " of another pid namespace";
  return segment.host_pid ? text + fmt::format(" ({} here)", *segment.host_pid) : text;
}

void add_segment_warnings(const SegmentEvidence& segment, const std::string& directory,
                          std::vector<std::string>& warnings) {
  const segment::SegmentImage& image = segment.image;
  const std::string who = fmt::format("process {} ({})", pid_text(segment), image.name);
  const std::string could_not_grow = fmt::format(
      "{}; free space in {} (`ttmem clean` removes what dead processes left) and start "
      "the process again",
      std::generic_category().message(image.last_error), directory);
  const auto warn = [&](std::uint64_t count, const char* one, const char* effect,
                        const char* otherwise) {
    if (count == 0) return;
    warnings.push_back(fmt::format("{}: {} {}: {}", who, counted(count, one), effect,
                                   image.last_error != 0 ? could_not_grow : otherwise));
  };
  warn(image.dropped_allocations, "allocation", "counted but not listed",
       "its segment has reached its largest size");
  warn(image.dropped_programs, "program", "counted but not listed",
       "a program can be listed with at most 1024 circular buffers");
  warn(image.dropped_calls, "call", "not recorded at all, so that its figures are too low",
       "it named more than 128 devices, passed a structure without its struct_size or cb_size, "
       "sent more than its socket took, or a signal handler called inside another call");
  warn(image.dropped_names, "placement", "shown without a name",
       "its segment holds at most 65536 different names and long labels");
  const bool dropped = image.dropped_allocations + image.dropped_programs + image.dropped_calls +
                           image.dropped_names !=
                       0;
  if (image.last_error != 0 && !dropped) {
    warnings.push_back(fmt::format("{}: its segment could not grow: {}", who, could_not_grow));
  }
  for (const std::string& text : image.not_seen) {
    warnings.push_back(fmt::format("{}: {}", who, text));
  }
  add_left_at_close(image, who, warnings);
  if (image.invalid_records != 0) {
    warnings.push_back(
        fmt::format("{}: left out {} with impossible values; update the libttmem that it uses", who,
                    counted(image.invalid_records, "record")));
  }
}

}  // namespace ttmem::collector
