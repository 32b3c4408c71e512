// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/sub_device.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>
#include <vector>

#include "memory_banks.hpp"

namespace tt::tt_metal::dryrun {

// One division of a mesh's cores into sub-devices. With L1 of its own, each sub-device has an
// allocator over its cores:
//
//   | reserved | l1 of the sub-device | l1 of the whole mesh ............. | l1_small |
//   0          l1_base                l1_base + local_l1_bytes
struct SubDeviceManager {
  struct L1 {
    std::unique_ptr<AllocatorImpl> allocator;
    std::unique_ptr<Allocator> view;
  };

  SubDeviceManagerId id;
  std::vector<SubDevice> sub_devices;
  DeviceAddr local_l1_bytes = 0;
  std::vector<L1> l1;  // by sub-device; null when it has none
  std::vector<SubDeviceId> ids;
  std::vector<SubDeviceId> stall_group;

  bool has_buffers() const;
};

// The sub-device managers of a mesh. The default one is always there: one sub-device of all cores,
// with the mesh's own allocator. One of them is loaded; while that has L1 of its own, the mesh's
// allocator does without it.
//
// Any thread may call it. References stay valid until the manager they belong to is removed.
class SubDeviceManagers {
 public:
  // `whole` is the mesh's allocator, and outlives this.
  explicit SubDeviceManagers(MemoryBanks& whole);

  // Throws when the sub-devices are too many, overlap or lie off the grid.
  SubDeviceManagerId create(ttsl::Span<const SubDevice> sub_devices, DeviceAddr local_l1_size);
  // Does nothing when it is loaded. Throws when there is none with this id, when the sub-devices of
  // the one that is loaded hold buffers, and when the mesh has buffers where the sub-devices' L1
  // would be; as in TT-Metal the mesh has all of L1 again after that.
  void load(SubDeviceManagerId id);
  // Throws for the one that is loaded, for the default one, and when there is none with this id.
  void remove(SubDeviceManagerId id);

  SubDeviceManagerId default_id() const { return default_; }
  SubDeviceManagerId loaded_id() const { return loaded().id; }
  const SubDeviceManager& loaded() const;
  // Of the loaded manager. Throws when there is none.
  const SubDevice& sub_device(SubDeviceId id) const;
  // Null for the default manager, which has the mesh's allocator. Throws when the sub-device has no
  // L1 of its own, and when there is no such sub-device.
  const SubDeviceManager::L1* l1_of(SubDeviceId id) const;
  void set_stall_group(ttsl::Span<const SubDeviceId> ids);
  void reset_stall_group();

  // The lowest L1 buffer of the mesh and of these sub-devices; of all when none is named.
  std::optional<DeviceAddr> lowest_occupied_l1_address(ttsl::Span<const SubDeviceId> ids) const;

  // A line for each of the lowest L1 buffers of these sub-devices that begin below the address.
  std::string describe_l1_buffers_below(DeviceAddr end, ttsl::Span<const SubDeviceId> ids) const;

  // The mesh is gone: see MemoryBanks::close.
  void close();

 private:
  // Those of the named sub-devices, of all when none is named, that have L1 of their own.
  std::vector<const MemoryBanks*> banks_of(ttsl::Span<const SubDeviceId> ids) const;
  SubDeviceManager& find(SubDeviceManagerId id) const;
  void validate(ttsl::Span<const SubDevice> sub_devices) const;
  void make_allocators(SubDeviceManager& manager) const;

  MemoryBanks& whole_;
  const SubDeviceManagerId default_;
  mutable std::mutex mutex_;  // the members below
  std::map<SubDeviceManagerId, std::unique_ptr<SubDeviceManager>> managers_;
  SubDeviceManager* loaded_ = nullptr;
};

}  // namespace tt::tt_metal::dryrun
