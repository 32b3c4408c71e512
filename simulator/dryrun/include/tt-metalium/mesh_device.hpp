// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tt-metalium/device.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <tt-metalium/mesh_config.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device_view.hpp>
#include <tt-metalium/mesh_trace_id.hpp>
#include <tt_stl/span.hpp>
#include <vector>

namespace tt::tt_metal::distributed {

class MeshCommandQueue;
class MeshDeviceImpl;

using DeviceIds = std::vector<int>;

// Several chips that work as one: a buffer lies at the same address on each chip, and a program is
// placed on each chip. A mesh and each of its submeshes have allocators of their own. As in
// TT-Metal, each allocator ignores the buffers of the others, so their buffers may overlap.
//
// The chips are open from the creation of the mesh until the mesh and its submeshes are closed or
// destroyed. All methods may be called from any thread, but only one thread may create and close a
// mesh.
class MeshDevice : public IDevice, public std::enable_shared_from_this<MeshDevice> {
 public:
  // Throws if the machine has no such mesh, or if the sizes do not fit into a chip.
  static std::shared_ptr<MeshDevice> create(
      const MeshDeviceConfig& config, std::size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
      std::size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE, std::size_t num_command_queues = 1,
      const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
      ttsl::Span<const std::uint32_t> l1_bank_remap = {},
      std::size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);
  // create_unit_mesh makes a mesh of one chip. create_unit_meshes makes one mesh for each of the
  // given chips.
  static std::shared_ptr<MeshDevice> create_unit_mesh(
      int device_id, std::size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
      std::size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE, std::size_t num_command_queues = 1,
      const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
      ttsl::Span<const std::uint32_t> l1_bank_remap = {},
      std::size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);
  static std::map<int, std::shared_ptr<MeshDevice>> create_unit_meshes(
      const std::vector<int>& device_ids, std::size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
      std::size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE, std::size_t num_command_queues = 1,
      const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
      ttsl::Span<const std::uint32_t> l1_bank_remap = {},
      std::size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);

  ~MeshDevice() override;

  // The functions of IDevice. Functions for one chip return the value of the first chip, because
  // all chips of a mesh are alike.
  tt::ARCH arch() const override;
  int id() const override;
  ChipId build_id() const override;
  std::uint8_t num_hw_cqs() const override;
  bool is_initialized() const override;
  int num_dram_channels() const override;
  std::uint32_t l1_size_per_core() const override;
  std::uint32_t dram_size_per_channel() const override;
  CoreCoord grid_size() const override;
  CoreCoord logical_grid_size() const override;
  CoreCoord dram_grid_size() const override;
  CoreCoord compute_with_storage_grid_size() const override;
  CoreRangeSet worker_cores(HalProgrammableCoreType core_type,
                            SubDeviceId sub_device_id) const override;
  std::uint32_t num_worker_cores(HalProgrammableCoreType core_type,
                                 SubDeviceId sub_device_id) const override;
  CoreCoord worker_core_from_logical_core(const CoreCoord& logical_core) const override;
  std::vector<CoreCoord> worker_cores_from_logical_cores(
      const std::vector<CoreCoord>& logical_cores) const override;
  const std::unique_ptr<Allocator>& allocator() const override;
  const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device_id) const override;
  const std::unique_ptr<AllocatorImpl>& allocator_impl() const override;
  const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device_id) const override;
  std::optional<DeviceAddr> lowest_occupied_compute_l1_address() const override;
  std::optional<DeviceAddr> lowest_occupied_compute_l1_address(
      ttsl::Span<const SubDeviceId> sub_device_ids) const override;
  std::uint32_t get_trace_buffers_size() const override;
  void set_trace_buffers_size(std::uint32_t size) override;
  bool close() override;
  void enable_program_cache() override;
  void clear_program_cache() override;
  void disable_and_clear_program_cache() override;
  program_cache::detail::ProgramCache& get_program_cache() override;
  std::size_t num_program_cache_entries() override;

  // Sub-devices. A manager divides the cores of every chip into sub-devices, each with
  // `local_l1_size` bytes of its own at the lower end of L1. While the manager is loaded, the
  // mesh's allocator uses only the rest of L1. A buffer with a sub-device's id is placed in the L1
  // of the sub-device, on the cores of the sub-device. A program runs on one sub-device, and
  // clashes with the buffers of the mesh and of this sub-device. One manager is loaded at a time.
  // At first, the default manager is loaded, with one sub-device of all cores. worker_cores() and
  // allocator() take the ids of the loaded manager's sub-devices.
  //
  // create_sub_device_manager throws if there are more than 8 sub-devices, or if they overlap or
  // lie off the grid. load_sub_device_manager throws if sub-devices of the loaded manager hold
  // buffers, or if the mesh has buffers in the future L1 of the sub-devices.
  // remove_sub_device_manager throws for the loaded manager and for the default manager.
  SubDeviceManagerId get_active_sub_device_manager_id() const override;
  SubDeviceManagerId get_default_sub_device_manager_id() const override;
  SubDeviceManagerId create_sub_device_manager(std::initializer_list<SubDevice> sub_devices,
                                               DeviceAddr local_l1_size) override;
  SubDeviceManagerId create_sub_device_manager(ttsl::Span<const SubDevice> sub_devices,
                                               DeviceAddr local_l1_size) override;
  void remove_sub_device_manager(SubDeviceManagerId sub_device_manager_id) override;
  // Does nothing if the manager is already loaded.
  void load_sub_device_manager(SubDeviceManagerId sub_device_manager_id) override;
  // Loads the default manager.
  void clear_loaded_sub_device_manager() override;
  const std::vector<SubDeviceId>& get_sub_device_ids() const override;
  const std::vector<SubDeviceId>& get_sub_device_stall_group() const override;
  void set_sub_device_stall_group(ttsl::Span<const SubDeviceId> sub_device_ids) override;
  void reset_sub_device_stall_group() override;
  std::uint32_t num_sub_devices() const override;

  bool is_mmio_capable() const override;
  std::shared_ptr<MeshDevice> get_mesh_device() override;

  // Traces. Workloads between begin_mesh_trace and end_mesh_trace are recorded and do not run.
  // end_mesh_trace allocates the trace buffer. It lies in the trace region, or at the top of DRAM
  // if the mesh was created without a trace region. Its size is an estimate: kTraceBytesPerProgram
  // for each recorded program.
  static constexpr std::uint32_t kTraceBytesPerProgram = 4096;
  MeshTraceId begin_mesh_trace(MeshCommandQueue& cq);
  void begin_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id);
  void end_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id);
  void replay_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id, bool blocking);
  MeshTraceId begin_mesh_trace(std::uint8_t cq_id);
  void begin_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id);
  void end_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id);
  void replay_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id, bool blocking);
  void release_mesh_trace(const MeshTraceId& trace_id);

  // Returns the chips in mesh order: row by row.
  std::vector<IDevice*> get_devices() const;
  // Throws if the chip is not in the mesh.
  IDevice* get_device(ChipId physical_device_id) const;
  IDevice* get_device(const MeshCoordinate& coord) const;
  IDevice* get_device(std::size_t row_idx, std::size_t col_idx) const;
  DeviceIds get_device_ids() const;
  std::size_t num_devices() const;
  std::size_t num_rows() const;
  std::size_t num_cols() const;
  const MeshShape& shape() const;
  const MeshDeviceView& get_view() const;
  std::string to_string() const;

  bool is_parent_mesh() const;
  const std::shared_ptr<MeshDevice>& get_parent_mesh() const;
  std::vector<std::shared_ptr<MeshDevice>> get_submeshes() const;
  // Makes a submesh, which keeps its parent alive. Throws if the submesh does not fit.
  std::shared_ptr<MeshDevice> create_submesh(
      const MeshShape& submesh_shape, const std::optional<MeshCoordinate>& offset = std::nullopt);
  // Divides the mesh into submeshes of this shape. Throws if the submeshes do not fill the mesh.
  std::vector<std::shared_ptr<MeshDevice>> create_submeshes(const MeshShape& submesh_shape);

  MeshCommandQueue& mesh_command_queue(std::optional<std::uint8_t> cq_id = std::nullopt) const;

  // Run tasks on the worker threads of the mesh, and wait for all tasks. There is one worker for
  // each chip of the mesh that opened the chips. The workers take tasks in round-robin order, and
  // after each wait the first worker is next. If the mesh has only one chip, a task runs
  // immediately on the calling thread. wait_for_thread_pool throws the first exception of a task.
  void enqueue_to_thread_pool(std::function<void()>&& f);
  void wait_for_thread_pool();

  const MeshDeviceImpl& impl() const { return *pimpl_; }
  MeshDeviceImpl& impl() { return *pimpl_; }

 private:
  MeshDevice();
  friend class MeshDeviceImpl;

  std::unique_ptr<MeshDeviceImpl> pimpl_;
};

}  // namespace tt::tt_metal::distributed
