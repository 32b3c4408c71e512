// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "segment/writer/segment_writer.hpp"
#include "track/tracker/device_set_table.hpp"
#include "track/tracker/mesh.hpp"
#include "track/tracker/tracked_device.hpp"
#include "track/tracker/tracked_process.hpp"

namespace ttmem::tracker {

// The devices of a tracked process, open and closed, and the meshes that its calls name.
//
// Owns the devices. A device keeps its address until the tracker ends. Does not change buffers and
// programs when a device opens or closes: Tracker::device_open() and Tracker::device_close() do.
//
// Not thread-safe. May throw std::bad_alloc. A segment without room for another device, and a grid
// or a number of DRAM channels above the maximum, are counted in the segment and are no failure.
class DeviceTable {
 public:
  explicit DeviceTable(TrackedProcess& process) noexcept
      : process_(process), sets_(process.segment()) {}
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;

  // Returns the open device with this id. Opens the device, with unknown capacities, if it is not
  // open. Returns null, and counts a dropped call, if the segment has no room for another device.
  [[nodiscard]] TrackedDevice* find_or_open(std::uint32_t id) {
    TrackedDevice* found = find(id);
    if (found != nullptr && found->is_open()) [[likely]] {
      return found;
    }
    return open(id, found);
  }
  // Returns the device with this id, open or closed. Returns null if it was never open.
  [[nodiscard]] TrackedDevice* find(std::uint32_t id) const noexcept {
    if (id < by_id_.size()) [[likely]] {
      return by_id_[id];
    }
    return find_by_search(id);
  }
  // Returns the device whose record has this index. The record must exist.
  [[nodiscard]] TrackedDevice& at(std::uint32_t record) const noexcept { return *devices_[record]; }
  // Calls visit(device) for every device, open or closed.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    for (std::uint32_t i = 0; i < count_; ++i) visit(*devices_[i]);
  }

  // Returns true if describe() would give the device another grid.
  [[nodiscard]] bool changes_grid(const ttmem_device_info& info) const noexcept;
  // Adds the facts in `info` to the record of the device. Returns true if the grid changed; the
  // caller must then renumber the cores of buffers and programs.
  [[nodiscard]] bool describe(TrackedDevice& device, const ttmem_device_info& info);
  // Closes an open device. The caller has removed its buffers and programs.
  void close(TrackedDevice& device);

  // Implement ttmem_set_reported(), ttmem_set_unseen() and ttmem_cb_estimate(). `why` may be null.
  void set_reported(std::uint32_t id, std::uint32_t kinds);
  void set_unseen(std::uint32_t kinds, const char* why);
  void set_cb_estimate(std::uint32_t id, bool is_estimate);

  // Returns the devices of the list, and opens the devices that are not open. A device that is
  // listed twice is a bad argument. A device for which the segment has no room is counted as a
  // dropped call. `list` must not be empty. The result is valid until the next call.
  [[nodiscard]] TrackedMesh& mesh(std::span<const std::uint32_t> list) {
    KnownMesh& known = meshes_[(list.front() + list.size()) % meshes_.size()];
    if (known.shapes == shapes_ &&
        std::equal(list.begin(), list.end(), known.list.begin(), known.list.end())) [[likely]] {
      return known.mesh;
    }
    return look_up(list, known);
  }
  // Returns the number that identifies this set of devices in the segment, or 0 if the segment has
  // no room for the set.
  [[nodiscard]] std::uint32_t set_number(const DeviceMask& devices) {
    return sets_.number_of(devices);
  }

 private:
  [[nodiscard]] TrackedDevice* find_by_search(std::uint32_t id) const noexcept;
  [[gnu::noinline, gnu::cold]] TrackedDevice* open(std::uint32_t id, TrackedDevice* known);
  TrackedDevice* new_device(std::uint32_t id);
  void set_known(TrackedDevice& device, std::uint32_t kinds, bool known);
  void notify_observer(const TrackedDevice& device) const noexcept;
  TrackedMesh& look_up(std::span<const std::uint32_t> list, KnownMesh& known);
  void add_to(TrackedMesh& mesh, const TrackedDevice& device);

  TrackedProcess& process_;
  DeviceSetTable sets_;
  KnownMeshes meshes_;
  std::uint64_t shapes_ = 1;  // grows when a device opens, closes or gets another shape
  std::uint32_t count_ = 0;   // number of devices
  std::array<std::unique_ptr<TrackedDevice>, segment::kMaxDevices> devices_;  // by record
  std::array<TrackedDevice*, 256>
      by_id_{};  // by id, if the id is below 256; larger ids are searched
};

}  // namespace ttmem::tracker
