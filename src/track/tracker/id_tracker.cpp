// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/id_tracker.hpp"

#include <utility>

namespace ttmem::tracker {

Result<std::unique_ptr<IdTracker>> IdTracker::start(
    const segment::SegmentWriter::Options& options) {
  auto segment = segment::SegmentWriter::create(options);
  if (!segment) return segment.error();
  return std::unique_ptr<IdTracker>(new IdTracker(std::move(*segment)));
}

namespace {

DeviceMask only(const Device& device) noexcept {
  DeviceMask mask;
  mask.set(device.record_index);
  return mask;
}

}  // namespace

// When the grid becomes known, cores get other numbers, on this device alone: what a mesh has on
// some cores is from then on a buffer of this device, and one of the others.
void IdTracker::device_open(const ttmem_device_info& info) {
  Device* device = core_.find(info.id);
  const bool renumbers = device != nullptr && device->is_open() && core_.changes_grid(info);
  for (std::size_t k = 0; renumbers && k < kBufferKinds.size(); ++k) {
    const Kind kind = kBufferKinds[k];
    for (const std::uint64_t id : mesh_buffers_on(only(*device), kind)) {
      MeshAllocation& mesh = *find_mesh(only(*device), kind, id);
      if (!core_.is_on_cores(mesh)) continue;
      const Receipt own = core_.split_off(*device, mesh.devices - only(*device), mesh);
      static_cast<Receipt&>(*live(*device, kind).insert(id).first) = own;
      forget(mesh, only(*device));
    }
  }
  core_.device_open(info);
}

void IdTracker::device_close(std::uint32_t id) {
  Device* device = core_.find(id);
  if (device == nullptr || !device->is_open()) return;
  for (const Kind kind : kBufferKinds) {
    for (const std::uint64_t left : mesh_buffers_on(only(*device), kind)) {
      MeshAllocation& mesh = *find_mesh(only(*device), kind, left);
      core_.release_on_at_close(*device, mesh.devices - only(*device), mesh);
      forget(mesh, only(*device));
    }
  }
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
  if (meshes_[request.kind].size() != 0) [[unlikely]] {
    if (make_way(only(device), request.kind, request.id, request.used_bytes()).empty()) return;
  }
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
  if (known == nullptr) return release_of_mesh(device, kind, id);
  core_.release(device, *known, now());
  table.erase(known);
}

void IdTracker::release_of_mesh(Device& device, Kind kind, std::uint64_t id) {
  MeshAllocation* mesh = find_mesh(only(device), kind, id);
  mesh != nullptr ? release_part(*mesh, only(device)) : device.count_unknown_free();
}

void IdTracker::mesh_buffer_alloc(std::span<const std::uint32_t> list, const ttmem_buffer& buffer) {
  for (MeshPart& part : core_.mesh(list).parts) {
    Device& first = core_.at(part.first);
    const std::uint64_t faults_before = first.anomalies().bad_arguments;
    Request request;
    const bool usable = fill_buffer_request(first, buffer, request);
    const std::uint64_t faults = first.anomalies().bad_arguments - faults_before;
    (part.devices - only(first)).for_each([&](std::uint32_t record) {
      for (std::uint64_t i = 0; i < faults; ++i) core_.at(record).count_bad_argument();
    });
    if (usable) allocate_on(part, request);
  }
}

void IdTracker::mesh_buffer_free(std::span<const std::uint32_t> list, std::uint32_t type,
                                 std::uint64_t id) {
  for (MeshPart& part : core_.mesh(list).parts) {
    if (type >= kBufferKinds.size()) {
      part.devices.for_each([&](std::uint32_t i) { core_.at(i).count_bad_argument(); });
      continue;
    }
    const Kind kind = kBufferKinds[type];
    MeshAllocation* known = meshes_[kind].find({id, part.devices});
    if (known == nullptr) {
      release_each(part.devices, kind, id);
      continue;
    }
    core_.release_on(part.devices, part.set, {}, *known, now());
    meshes_[kind].erase(known);
  }
}

void IdTracker::allocate_on(MeshPart& part, const Request& request) {
  if (core_.has_observer() || part.devices == only(core_.at(part.first))) {
    return part.devices.for_each([&](std::uint32_t i) { allocate(core_.at(i), request); });
  }
  const DeviceMask devices = make_way(part.devices, request.kind, request.id, request.used_bytes());
  if (devices.empty()) return;
  if (part.set == 0) part.set = core_.set_number(part.devices);
  const std::uint32_t set = devices == part.devices ? part.set : core_.set_number(devices);
  MeshAllocation& live = *meshes_[request.kind].insert({request.id, devices}).first;
  core_.allocate_on(devices, set, request, now(), live);
}

DeviceMask IdTracker::make_way(DeviceMask devices, Kind kind, std::uint64_t id,
                               std::uint64_t used_bytes) {
  DeviceMask full;
  DeviceMask taken;
  devices.for_each([&](std::uint32_t i) {
    if (!has_room(core_.segment().device(i), kind, used_bytes)) full.set(i);
    if (live_[i][kind].size() != 0 && live_[i][kind].find(id) != nullptr) taken.set(i);
  });
  full.for_each([&](std::uint32_t i) { core_.at(i).count_bad_argument(); });
  devices = devices - full;
  if (const MeshAllocation* mesh = find_mesh(devices, kind, id)) taken |= mesh->devices;
  taken = taken & devices;
  if (taken.empty()) return devices;
  taken.for_each([&](std::uint32_t i) { core_.at(i).count_alloc_over_live(); });
  release_each(taken, kind, id);
  return make_way(devices, kind, id, used_bytes);  // there may be another one of that id
}

void IdTracker::release_each(DeviceMask devices, Kind kind, std::uint64_t id) {
  while (MeshAllocation* mesh = find_mesh(devices, kind, id)) {
    const DeviceMask here = mesh->devices & devices;
    release_part(*mesh, here);
    devices = devices - here;
  }
  devices.for_each([&](std::uint32_t i) { release(core_.at(i), kind, id); });
}

void IdTracker::release_part(MeshAllocation& live, const DeviceMask& devices) {
  core_.release_on(devices, core_.set_number(devices), live.devices - devices, live, now());
  forget(live, devices);
}

MeshAllocation* IdTracker::find_mesh(const DeviceMask& on_any, Kind kind,
                                     std::uint64_t id) noexcept {
  return meshes_[kind].find_if({id, on_any},
                               [&](const MeshAllocation& one) { return one.is_on(id, on_any); });
}

std::vector<std::uint64_t> IdTracker::mesh_buffers_on(const DeviceMask& device, Kind kind) {
  std::vector<std::uint64_t> ids;
  meshes_[kind].for_each([&](const MeshAllocation& one) {
    if (one.is_on(one.id, device)) ids.push_back(one.id);
  });
  return ids;
}

// The receipt is released on these devices.
void IdTracker::forget(MeshAllocation& live, const DeviceMask& devices) noexcept {
  // Entries of one id are found together whatever their devices are, so this may change in place.
  const DeviceMask rest = live.devices - devices;
  rest.empty() ? meshes_[live.kind].erase(&live) : static_cast<void>(live.devices = rest);
}

}  // namespace ttmem::tracker
