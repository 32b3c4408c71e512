// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device_types.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>
#include <vector>

namespace tt::tt_metal {

namespace program_cache::detail {
struct ProgramCache;
}  // namespace program_cache::detail

enum class BufferType;
class Allocator;
class AllocatorImpl;
class SubDevice;

namespace distributed {
class MeshDevice;
}  // namespace distributed

// A chip (Device) or several chips that work as one (distributed::MeshDevice). This is the part of
// TT-Metal's interface that concerns memory. All functions may be called from any thread.
class IDevice {
 public:
  IDevice() = default;
  virtual ~IDevice() = default;
  IDevice(const IDevice&) = delete;
  IDevice& operator=(const IDevice&) = delete;

  virtual tt::ARCH arch() const = 0;
  // Returns the number of the chip or mesh. Meshes are numbered separately, so a mesh and a chip
  // can have the same number.
  virtual ChipId id() const = 0;
  virtual ChipId build_id() const = 0;
  virtual std::uint8_t num_hw_cqs() const = 0;
  // Returns false after the device was closed.
  virtual bool is_initialized() const = 0;

  virtual int num_dram_channels() const = 0;
  virtual std::uint32_t l1_size_per_core() const = 0;
  virtual std::uint32_t dram_size_per_channel() const = 0;
  virtual CoreCoord grid_size() const = 0;
  virtual CoreCoord logical_grid_size() const = 0;
  virtual CoreCoord dram_grid_size() const = 0;
  // Returns the size of the grid of compute cores. Programs run on these cores, and each core is
  // one L1 bank.
  virtual CoreCoord compute_with_storage_grid_size() const = 0;
  virtual CoreRangeSet worker_cores(HalProgrammableCoreType core_type,
                                    SubDeviceId sub_device_id) const = 0;
  virtual std::uint32_t num_worker_cores(HalProgrammableCoreType core_type,
                                         SubDeviceId sub_device_id) const = 0;
  // These functions return the logical coordinates unchanged, because the dry run has no network.
  virtual CoreCoord worker_core_from_logical_core(const CoreCoord& logical_core) const = 0;
  virtual std::vector<CoreCoord> worker_cores_from_logical_cores(
      const std::vector<CoreCoord>& logical_cores) const = 0;

  virtual const std::unique_ptr<Allocator>& allocator() const = 0;
  virtual const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device_id) const = 0;
  virtual const std::unique_ptr<AllocatorImpl>& allocator_impl() const = 0;
  virtual const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device_id) const = 0;

  // Returns the address of the lowest L1 buffer in any bank. Circular buffers must end at or below
  // this address.
  virtual std::optional<DeviceAddr> lowest_occupied_compute_l1_address() const = 0;
  virtual std::optional<DeviceAddr> lowest_occupied_compute_l1_address(
      ttsl::Span<const SubDeviceId> sub_device_ids) const = 0;

  virtual std::uint32_t get_trace_buffers_size() const = 0;
  virtual void set_trace_buffers_size(std::uint32_t size) = 0;

  // Frees all memory on the device. Buffers and programs that still exist then hold no memory.
  virtual bool close() = 0;

  virtual void enable_program_cache() = 0;
  virtual void clear_program_cache() = 0;
  virtual void disable_and_clear_program_cache() = 0;
  virtual program_cache::detail::ProgramCache& get_program_cache() = 0;
  virtual std::size_t num_program_cache_entries() = 0;

  // Sub-devices exist only on meshes (see MeshDevice). On a chip, the functions for managers throw.
  virtual SubDeviceManagerId get_active_sub_device_manager_id() const = 0;
  virtual SubDeviceManagerId get_default_sub_device_manager_id() const = 0;
  virtual SubDeviceManagerId create_sub_device_manager(ttsl::Span<const SubDevice> sub_devices,
                                                       DeviceAddr local_l1_size) = 0;
  virtual SubDeviceManagerId create_sub_device_manager(std::initializer_list<SubDevice> sub_devices,
                                                       DeviceAddr local_l1_size) = 0;
  virtual void remove_sub_device_manager(SubDeviceManagerId sub_device_manager_id) = 0;
  virtual void load_sub_device_manager(SubDeviceManagerId sub_device_manager_id) = 0;
  virtual void clear_loaded_sub_device_manager() = 0;
  virtual const std::vector<SubDeviceId>& get_sub_device_ids() const = 0;
  virtual const std::vector<SubDeviceId>& get_sub_device_stall_group() const = 0;
  virtual void set_sub_device_stall_group(ttsl::Span<const SubDeviceId> sub_device_ids) = 0;
  virtual void reset_sub_device_stall_group() = 0;
  virtual std::uint32_t num_sub_devices() const = 0;
  // Returns true if the chip has a PCIe link of its own. Throws on a mesh.
  virtual bool is_mmio_capable() const = 0;

  // Returns the mesh that the chip belongs to. Returns null if the chip belongs to no mesh.
  virtual std::shared_ptr<distributed::MeshDevice> get_mesh_device() = 0;
};

}  // namespace tt::tt_metal
