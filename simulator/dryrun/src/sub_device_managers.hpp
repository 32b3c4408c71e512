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

// One division of a mesh's cores into sub-devices. If the sub-devices have L1 of their own, each
// sub-device has an allocator for its cores:
//
//    | reserved | l1 of the sub-device | l1 of the whole mesh ............. | l1_small |
//    0          l1_base                l1_base + local_l1_bytes
struct SubDeviceManager {
  struct L1 {
    std::unique_ptr<AllocatorImpl> allocator;
    std::unique_ptr<Allocator> view;
  };

  SubDeviceManagerId id;
  std::vector<SubDevice> sub_devices;
  DeviceAddr local_l1_bytes = 0;
  std::vector<L1> l1;  // indexed by sub-device; members are null without L1 of its own
  std::vector<SubDeviceId> ids;
  std::vector<SubDeviceId> stall_group;

  bool has_buffers() const;
};

// The sub-device managers of a mesh. The default manager always exists: one sub-device of all
// cores, with the mesh's own allocator. One manager is loaded at a time. If the loaded manager's
// sub-devices have L1 of their own, the mesh's allocator does not use that L1.
//
// All methods may be called from any thread. A returned reference is valid until its manager is
// removed.
class SubDeviceManagers {
 public:
  // `whole` is the mesh's allocator, which must outlive this object.
  explicit SubDeviceManagers(MemoryBanks& whole);

  // Throws if there are too many sub-devices, or if they overlap or lie off the grid.
  SubDeviceManagerId create(ttsl::Span<const SubDevice> sub_devices, DeviceAddr local_l1_size);
  // Loads a manager. Does nothing if the manager is already loaded. Throws if there is no manager
  // with this id, or if sub-devices of the loaded manager hold buffers. Also throws if the mesh has
  // buffers in the L1 that the sub-devices would get; as in TT-Metal, the mesh's allocator then
  // uses all of L1.
  void load(SubDeviceManagerId id);
  // Removes a manager. Throws if the manager is loaded or is the default manager, or if there is no
  // manager with this id.
  void remove(SubDeviceManagerId id);

  SubDeviceManagerId default_id() const { return default_; }
  SubDeviceManagerId loaded_id() const { return loaded().id; }
  const SubDeviceManager& loaded() const;
  // Returns a sub-device of the loaded manager. Throws if the manager has no such sub-device.
  const SubDevice& sub_device(SubDeviceId id) const;
  // Returns the L1 of a sub-device of the loaded manager. Returns null for the default manager,
  // which uses the mesh's allocator. Throws if the sub-device does not exist or has no L1 of its
  // own.
  const SubDeviceManager::L1* l1_of(SubDeviceId id) const;
  void set_stall_group(ttsl::Span<const SubDeviceId> ids);
  void reset_stall_group();

  // Returns the address of the lowest L1 buffer that the mesh or one of these sub-devices holds. An
  // empty `ids` means all sub-devices.
  std::optional<DeviceAddr> lowest_occupied_l1_address(ttsl::Span<const SubDeviceId> ids) const;

  // Describes the L1 buffers of each of these sub-devices that begin below the address; see
  // MemoryBanks::describe_l1_buffers_below.
  std::string describe_l1_buffers_below(DeviceAddr end, ttsl::Span<const SubDeviceId> ids) const;

  // Call this when the mesh is gone; see MemoryBanks::close.
  void close();

 private:
  // Returns the banks of the sub-devices in `ids` that have L1 of their own. An empty `ids` means
  // all sub-devices.
  std::vector<const MemoryBanks*> banks_of(ttsl::Span<const SubDeviceId> ids) const;
  SubDeviceManager& find(SubDeviceManagerId id) const;
  void validate(ttsl::Span<const SubDevice> sub_devices) const;
  void make_allocators(SubDeviceManager& manager) const;

  MemoryBanks& whole_;
  const SubDeviceManagerId default_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<SubDeviceManagerId, std::unique_ptr<SubDeviceManager>> managers_;
  SubDeviceManager* loaded_ = nullptr;
};

}  // namespace tt::tt_metal::dryrun
