// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/tracker.hpp"

namespace ttmem::tracker {

Result<std::unique_ptr<Tracker>> Tracker::start(const segment::SegmentWriter::Options& options) {
  auto segment = segment::SegmentWriter::create(options);
  if (!segment) return segment.error();
  return std::make_unique<Tracker>(std::move(*segment));
}

void Tracker::device_open(const ttmem_device_info& info) {
  process.segment().restore_deleted_file();
  TrackedDevice* device = devices.find_or_open(info.id);
  if (device == nullptr) return;
  const std::uint32_t columns_before = device->columns();
  if (!devices.describe(*device, info)) return;
  // Converts the core numbers of buffers and programs that were reported for the earlier grid.
  allocations.renumber_cores(*device, columns_before);
  programs.renumber_cores(*device);
}

void Tracker::device_close(std::uint32_t id) {
  TrackedDevice* device = devices.find(id);
  if (device == nullptr || !device->is_open()) return;
  process.segment().restore_deleted_file();
  programs.remove_all(*device);
  devices.close(*device);
}

}  // namespace ttmem::tracker
