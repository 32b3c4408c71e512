// SPDX-License-Identifier: Apache-2.0
#include "tracker/id_tracker.hpp"

#include <utility>

namespace ttmem::tracker {

Result<std::unique_ptr<IdTracker>> IdTracker::start(
    const segment::SegmentWriter::Options& options) {
  auto segment = segment::SegmentWriter::create(options);
  if (!segment) return segment.error();
  return std::unique_ptr<IdTracker>(new IdTracker(std::move(*segment)));
}

void IdTracker::device_close(std::uint32_t id) {
  Device* device = core_.find(id);
  if (device == nullptr || !device->is_open()) return;
  for (LiveTable& table : live_[device->record_index]) {
    table.for_each([&](const LiveAllocation& left) { core_.release_at_close(*device, left); });
    table.clear();
  }
  core_.device_close(id);
}

// Most calls of a workload are this and buffer_free(): each is one function down to the segment,
// except for rare cases.
[[gnu::flatten]] void IdTracker::buffer_alloc(std::uint32_t id, const ttmem_buffer& buffer) {
  Device* device = core_.device(id);
  if (device == nullptr) return;
  Request request;
  if (fill_buffer_request(*device, buffer, request)) allocate(*device, request);
}

[[gnu::flatten]] void IdTracker::buffer_free(std::uint32_t id, std::uint32_t type,
                                             std::uint64_t buffer) {
  Device* device = core_.device(id);
  if (device == nullptr) return;
  if (type >= kBufferKinds.size()) return device->count_bad_argument();
  release(*device, kBufferKinds[type], buffer);
}

void IdTracker::kernel_load(std::uint32_t id, std::uint64_t kernel, std::uint64_t bytes,
                            std::uint32_t role, bool is_estimate) {
  Device* device = core_.device(id);
  if (device == nullptr) return;
  Request request;
  if (!fill_kernel_request(*device, kernel, bytes, role, is_estimate, request)) return;
  // Loading an evicted kernel again is no anomaly. Its size may differ.
  LiveAllocation* known = live(*device, Kind::kernel).find(kernel);
  if (known == nullptr) return allocate(*device, request);
  core_.resize(*device, request, *known, now());
}

void IdTracker::kernel_unload(std::uint32_t id, std::uint64_t kernel) {
  Device* device = core_.device(id);
  if (device != nullptr) release(*device, Kind::kernel, kernel);
}

void IdTracker::cb_alloc(std::uint32_t id, std::uint64_t cb, std::uint64_t bytes) {
  Device* device = core_.device(id);
  if (device == nullptr) return;
  Request request;
  if (!fill_cb_request(*device, cb, bytes, request)) return;
  LiveAllocation* known = live(*device, Kind::cb).find(cb);
  if (known == nullptr) return allocate(*device, request);
  if (known->reports < 0xffff) ++known->reports;
  if (bytes > known->used_bytes) core_.resize(*device, request, *known, now());
}

void IdTracker::cb_free(std::uint32_t id, std::uint64_t cb) {
  Device* device = core_.device(id);
  if (device == nullptr) return;
  LiveAllocation* known = live(*device, Kind::cb).find(cb);
  if (known != nullptr && known->reports > 1) {
    --known->reports;
  } else {
    release(*device, Kind::cb, cb);
  }
}

void IdTracker::allocate(Device& device, const Request& request) {
  LiveTable& table = live(device, request.kind);
  const auto [entry, is_new] = table.insert(request.id);
  if (!is_new && !release_old(device, *entry, request.used_bytes())) return;
  if (!core_.allocate(device, request, now(), *entry)) table.erase(entry);
}

// Does not get the request: passing its address would force it into memory, which costs 5 ns.
bool IdTracker::release_old(Device& device, const LiveAllocation& live, std::uint64_t used_bytes) {
  if (!device.has_room(live.kind, used_bytes)) {
    device.count_bad_argument();
    return false;
  }
  device.count_alloc_over_live();
  core_.release(device, live, now());
  return true;
}

void IdTracker::release(Device& device, Kind kind, std::uint64_t id) {
  LiveTable& table = live(device, kind);
  LiveAllocation* known = table.find(id);
  if (known == nullptr) return device.count_unknown_free();
  core_.release(device, *known, now());
  table.erase(known);
}

}  // namespace ttmem::tracker
