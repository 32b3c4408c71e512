// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/id_tracker.hpp"

#include <utility>

#include "track/tracker/clock.hpp"

namespace ttmem::tracker {

Result<std::unique_ptr<IdTracker>> IdTracker::start(
    const segment::SegmentWriter::Options& options) {
  auto segment = segment::SegmentWriter::create(options);
  if (!segment) return segment.error();
  return std::make_unique<IdTracker>(std::move(*segment));
}

namespace {

DeviceMask only(const TrackedDevice& device) noexcept {
  DeviceMask mask;
  mask.set(device.record_index);
  return mask;
}

}  // namespace

// When the grid becomes known, the cores of this device get other numbers. A buffer of a mesh with
// a set of cores is then split into a buffer of this device and a buffer of the other devices.
void IdTracker::device_open(const ttmem_device_info& info) {
  TrackedDevice* device = tracker_.devices.find(info.id);
  const bool renumbers =
      device != nullptr && device->is_open() && tracker_.devices.changes_grid(info);
  for (std::size_t k = 0; renumbers && k < kBufferKinds.size(); ++k) {
    const Kind kind = kBufferKinds[k];
    for (const std::uint64_t id : mesh_buffers_on(only(*device), kind)) {
      MeshReceipt& mesh = *find_mesh(only(*device), kind, id);
      if (!tracker_.allocations.is_on_cores(mesh)) continue;
      const Receipt own =
          tracker_.allocations.split_off(*device, mesh.devices - only(*device), mesh);
      static_cast<Receipt&>(*live(*device, kind).insert(id).first) = own;
      forget(mesh, only(*device));
    }
  }
  tracker_.device_open(info);
}

void IdTracker::device_close(std::uint32_t id) {
  TrackedDevice* device = tracker_.devices.find(id);
  if (device == nullptr || !device->is_open()) return;
  for (const Kind kind : kBufferKinds) {
    for (const std::uint64_t left : mesh_buffers_on(only(*device), kind)) {
      MeshReceipt& mesh = *find_mesh(only(*device), kind, left);
      tracker_.allocations.release_on_at_close(*device, mesh.devices - only(*device), mesh);
      forget(mesh, only(*device));
    }
  }
  for (LiveReceipts& table : live_[device->record_index]) {
    table.for_each(
        [&](const LiveReceipt& left) { tracker_.allocations.release_at_close(*device, left); });
    table.clear();
  }
  tracker_.device_close(id);
}

// Most calls of a workload are buffer_alloc() and buffer_free(). `flatten` puts all code of each of
// these two calls into one function, down to the writes into the segment, except for rare cases.
[[gnu::flatten]] void IdTracker::buffer_alloc(std::uint32_t id, const ttmem_buffer& buffer) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device == nullptr) return;
  AllocationRequest request;
  if (fill_buffer_request(*device, buffer, request)) allocate(*device, request);
}

[[gnu::flatten]] void IdTracker::buffer_free(std::uint32_t id, std::uint32_t type,
                                             std::uint64_t buffer) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device == nullptr) return;
  if (type >= kBufferKinds.size()) return device->count_bad_argument();
  release(*device, kBufferKinds[type], buffer);
}

void IdTracker::kernel_load(std::uint32_t id, std::uint64_t kernel, std::uint64_t bytes,
                            std::uint32_t role, bool is_estimate) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device == nullptr) return;
  AllocationRequest request;
  if (!fill_kernel_request(*device, kernel, bytes, role, is_estimate, request)) return;
  // Loading a live kernel again is no anomaly: the kernel may have been evicted. The new size may
  // differ.
  LiveReceipt* known = live(*device, Kind::kernel).find(kernel);
  if (known == nullptr) return allocate(*device, request);
  tracker_.allocations.resize(*device, request, *known, now());
}

void IdTracker::kernel_unload(std::uint32_t id, std::uint64_t kernel) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device != nullptr) release(*device, Kind::kernel, kernel);
}

void IdTracker::cb_alloc(std::uint32_t id, std::uint64_t cb, std::uint64_t bytes) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device == nullptr) return;
  AllocationRequest request;
  if (!fill_cb_request(*device, cb, bytes, request)) return;
  LiveReceipt* known = live(*device, Kind::cb).find(cb);
  if (known == nullptr) return allocate(*device, request);
  if (known->reports < 0xffff) ++known->reports;
  if (bytes > known->used_bytes) tracker_.allocations.resize(*device, request, *known, now());
}

void IdTracker::cb_free(std::uint32_t id, std::uint64_t cb) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device == nullptr) return;
  LiveReceipt* known = live(*device, Kind::cb).find(cb);
  if (known != nullptr && known->reports > 1) {
    --known->reports;
  } else {
    release(*device, Kind::cb, cb);
  }
}

void IdTracker::allocate(TrackedDevice& device, const AllocationRequest& request) {
  LiveReceipts& table = live(device, request.kind);
  if (mesh_live_[request.kind].size() != 0) [[unlikely]] {
    if (make_way(only(device), request.kind, request.id, request.used_bytes()).empty()) return;
  }
  const auto [entry, is_new] = table.insert(request.id);
  if (!is_new && !release_old(device, *entry, request.used_bytes())) return;
  if (!tracker_.allocations.allocate(device, request, now(), *entry)) table.erase(entry);
}

// Does not take the request as an argument, because taking its address would force the request into
// memory (5 ns).
bool IdTracker::release_old(TrackedDevice& device, const LiveReceipt& live,
                            std::uint64_t used_bytes) {
  if (!device.has_room(live.kind, used_bytes)) {
    device.count_bad_argument();
    return false;
  }
  device.count_alloc_over_live();
  tracker_.allocations.release(device, live, now());
  return true;
}

void IdTracker::release(TrackedDevice& device, Kind kind, std::uint64_t id) {
  LiveReceipts& table = live(device, kind);
  LiveReceipt* known = table.find(id);
  if (known == nullptr) return release_of_mesh(device, kind, id);
  tracker_.allocations.release(device, *known, now());
  table.erase(known);
}

void IdTracker::release_of_mesh(TrackedDevice& device, Kind kind, std::uint64_t id) {
  MeshReceipt* mesh = find_mesh(only(device), kind, id);
  mesh != nullptr ? release_part(*mesh, only(device)) : device.count_unknown_free();
}

void IdTracker::mesh_buffer_alloc(std::span<const std::uint32_t> list, const ttmem_buffer& buffer) {
  for (MeshPart& part : tracker_.devices.mesh(list).parts) {
    TrackedDevice& first = tracker_.devices.at(part.first);
    const std::uint64_t faults_before = first.anomalies().bad_arguments;
    AllocationRequest request;
    const bool usable = fill_buffer_request(first, buffer, request);
    const std::uint64_t faults = first.anomalies().bad_arguments - faults_before;
    (part.devices - only(first)).for_each([&](std::uint32_t record) {
      for (std::uint64_t i = 0; i < faults; ++i) tracker_.devices.at(record).count_bad_argument();
    });
    if (usable) allocate_on(part, request);
  }
}

void IdTracker::mesh_buffer_free(std::span<const std::uint32_t> list, std::uint32_t type,
                                 std::uint64_t id) {
  for (MeshPart& part : tracker_.devices.mesh(list).parts) {
    if (type >= kBufferKinds.size()) {
      part.devices.for_each([&](std::uint32_t i) { tracker_.devices.at(i).count_bad_argument(); });
      continue;
    }
    const Kind kind = kBufferKinds[type];
    MeshReceipt* known = mesh_live_[kind].find({id, part.devices});
    if (known == nullptr) {
      release_each(part.devices, kind, id);
      continue;
    }
    tracker_.allocations.release_on(part.devices, part.set, {}, *known, now());
    mesh_live_[kind].erase(known);
  }
}

void IdTracker::allocate_on(MeshPart& part, const AllocationRequest& request) {
  if (tracker_.process.observer() != nullptr ||
      part.devices == only(tracker_.devices.at(part.first))) {
    return part.devices.for_each(
        [&](std::uint32_t i) { allocate(tracker_.devices.at(i), request); });
  }
  const DeviceMask devices = make_way(part.devices, request.kind, request.id, request.used_bytes());
  if (devices.empty()) return;
  if (part.set == 0) part.set = tracker_.devices.set_number(part.devices);
  const std::uint32_t set =
      devices == part.devices ? part.set : tracker_.devices.set_number(devices);
  MeshReceipt& live = *mesh_live_[request.kind].insert({request.id, devices}).first;
  tracker_.allocations.allocate_on(devices, set, request, now(), live);
}

DeviceMask IdTracker::make_way(DeviceMask devices, Kind kind, std::uint64_t id,
                               std::uint64_t used_bytes) {
  DeviceMask full;
  DeviceMask taken;
  devices.for_each([&](std::uint32_t i) {
    if (!has_room(segment().device(i), kind, used_bytes)) full.set(i);
    if (live_[i][kind].size() != 0 && live_[i][kind].find(id) != nullptr) taken.set(i);
  });
  full.for_each([&](std::uint32_t i) { tracker_.devices.at(i).count_bad_argument(); });
  devices = devices - full;
  if (const MeshReceipt* mesh = find_mesh(devices, kind, id)) taken |= mesh->devices;
  taken = taken & devices;
  if (taken.empty()) return devices;
  taken.for_each([&](std::uint32_t i) { tracker_.devices.at(i).count_alloc_over_live(); });
  release_each(taken, kind, id);
  // Calls itself again, because several buffers of meshes may have this id.
  return make_way(devices, kind, id, used_bytes);
}

void IdTracker::release_each(DeviceMask devices, Kind kind, std::uint64_t id) {
  while (MeshReceipt* mesh = find_mesh(devices, kind, id)) {
    const DeviceMask here = mesh->devices & devices;
    release_part(*mesh, here);
    devices = devices - here;
  }
  devices.for_each([&](std::uint32_t i) { release(tracker_.devices.at(i), kind, id); });
}

void IdTracker::release_part(MeshReceipt& live, const DeviceMask& devices) {
  tracker_.allocations.release_on(devices, tracker_.devices.set_number(devices),
                                  live.devices - devices, live, now());
  forget(live, devices);
}

MeshReceipt* IdTracker::find_mesh(const DeviceMask& on_any, Kind kind, std::uint64_t id) noexcept {
  return mesh_live_[kind].find_if({id, on_any},
                                  [&](const MeshReceipt& one) { return one.is_on(id, on_any); });
}

std::vector<std::uint64_t> IdTracker::mesh_buffers_on(const DeviceMask& device, Kind kind) {
  std::vector<std::uint64_t> ids;
  mesh_live_[kind].for_each([&](const MeshReceipt& one) {
    if (one.is_on(one.id, device)) ids.push_back(one.id);
  });
  return ids;
}

// Removes `devices` from the entry, after the buffer was released on these devices.
void IdTracker::forget(MeshReceipt& live, const DeviceMask& devices) noexcept {
  // May change the devices of the entry in place, because the place of an entry in the table
  // depends only on the id.
  const DeviceMask rest = live.devices - devices;
  rest.empty() ? mesh_live_[live.kind].erase(&live) : static_cast<void>(live.devices = rest);
}

void IdTracker::program_place(std::uint32_t id, std::uint64_t program,
                              std::span<const ttmem_cb> cbs, const char* name) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device != nullptr) tracker_.programs.place(*device, program, cbs, name);
}

// `flatten` inlines the calls: a dispatch that changes nothing takes 6 instead of 8 ns.
[[gnu::flatten]] void IdTracker::program_dispatch(std::uint32_t id, std::uint64_t program) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device != nullptr) tracker_.programs.dispatch(*device, program);
}

void IdTracker::trace_replay(std::uint32_t id, std::span<const std::uint64_t> programs) {
  TrackedDevice* device = tracker_.devices.find_or_open(id);
  if (device != nullptr) tracker_.programs.replay_trace(*device, programs);
}

}  // namespace ttmem::tracker
