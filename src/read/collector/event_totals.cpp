// SPDX-License-Identifier: Apache-2.0
#include "read/collector/event_totals.hpp"

#include <utility>

namespace ttmem::collector {
namespace {

// Adds the growth of a counter since `seen` to `total`. A correct writer never decreases a counter,
// so a decrease is ignored.
void grow(std::uint64_t& total, std::uint64_t& seen, std::uint64_t now) {
  if (now > seen) total += now - seen;
  seen = now;
}

}  // namespace

void EventTotals::add(const SegmentEvidence& segment, bool first, Seen& seen) {
  const segment::SegmentImage& image = segment.image;
  grow(dropped_, seen.dropped,
       image.dropped_allocations + image.dropped_programs + image.dropped_calls);
  for (const segment::DeviceImage& device : image.devices) {
    Counts now;
    for (const KindFigures& kind : device.kinds) {
      now.allocations += kind.allocations;
      now.frees += kind.frees;
    }
    const Device key(device.id, device.uid, device.arch);
    if (devices_.size() >= kMaxDevices && !devices_.contains(key)) continue;
    Counts& total = devices_[key];
    Counts& before = seen.devices[key];
    if (first) before = now;
    grow(total.allocations, before.allocations, now.allocations);
    grow(total.frees, before.frees, now.frees);
  }
}

void EventTotals::add(const Evidence& evidence) {
  const bool first = !std::exchange(begun_, true);
  if (!evidence.changed) return;
  std::map<File, Seen> still_there;
  for (const SegmentEvidence& segment : evidence.segments) {
    const File file(segment.origin.name, segment.origin.file_number);
    auto known = seen_.extract(file);
    Seen& seen = known ? still_there.insert(std::move(known)).position->second : still_there[file];
    add(segment, first, seen);
  }
  seen_ = std::move(still_there);
}

std::vector<model::DeviceCounters> EventTotals::devices() const {
  std::vector<model::DeviceCounters> list;
  for (const auto& [device, counts] : devices_) {
    const auto& [id, uid, arch] = device;
    list.push_back({.id = id,
                    .uid = uid != 0 ? std::optional(uid) : std::nullopt,
                    .arch = arch,
                    .allocations = counts.allocations,
                    .frees = counts.frees});
  }
  return list;
}

}  // namespace ttmem::collector
