// SPDX-License-Identifier: Apache-2.0
// One chip. This class is internal in TT-Metal. It is public here, so that memory tools can compare
// their figures with get_total_cb_allocated().
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tt-metalium/device.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <tt_stl/span.hpp>
#include <vector>

namespace ttmem::placement {
struct Board;
}  // namespace ttmem::placement

namespace tt::tt_metal {

namespace detail {
class ProgramImpl;
}  // namespace detail
namespace dryrun {
struct CbLayout;
}  // namespace dryrun

class Device final : public IDevice {
 public:
  Device(ChipId id, const ttmem::placement::Board& board, bool has_pcie);
  ~Device() override;

  // Selects the dispatch cores. Programs cannot use these cores. Must be called before
  // initialize().
  void set_dispatch_core_config(const DispatchCoreConfig& config) { dispatch_ = config; }
  // Opens the chip. Throws if the chip is already open, or if the sizes do not fit into its memory.
  // `worker_l1_size` 0 means all of L1 above the reserved region.
  bool initialize(std::uint8_t num_hw_cqs, std::size_t l1_small_size, std::size_t trace_region_size,
                  std::size_t worker_l1_size, ttsl::Span<const std::uint32_t> l1_bank_remap,
                  bool minimal);

  tt::ARCH arch() const override;
  ChipId id() const override { return id_; }
  ChipId build_id() const override { return id_; }
  std::uint8_t num_hw_cqs() const override { return num_hw_cqs_; }
  bool is_initialized() const override { return open_.load(std::memory_order_acquire); }
  int num_dram_channels() const override;
  std::uint32_t l1_size_per_core() const override;
  std::uint32_t dram_size_per_channel() const override;
  CoreCoord grid_size() const override;
  CoreCoord logical_grid_size() const override;
  CoreCoord dram_grid_size() const override;
  CoreCoord compute_with_storage_grid_size() const override { return compute_grid_; }
  CoreRangeSet worker_cores(HalProgrammableCoreType core_type,
                            SubDeviceId sub_device_id) const override;
  std::uint32_t num_worker_cores(HalProgrammableCoreType core_type,
                                 SubDeviceId sub_device_id) const override;
  CoreCoord worker_core_from_logical_core(const CoreCoord& logical_core) const override;
  std::vector<CoreCoord> worker_cores_from_logical_cores(
      const std::vector<CoreCoord>& logical_cores) const override;
  const std::unique_ptr<Allocator>& allocator() const override { return allocator_view_; }
  const std::unique_ptr<Allocator>& allocator(SubDeviceId) const override {
    return allocator_view_;
  }
  const std::unique_ptr<AllocatorImpl>& allocator_impl() const override { return allocator_; }
  const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId) const override {
    return allocator_;
  }
  std::optional<DeviceAddr> lowest_occupied_compute_l1_address() const override;
  std::optional<DeviceAddr> lowest_occupied_compute_l1_address(
      ttsl::Span<const SubDeviceId> sub_device_ids) const override;
  std::uint32_t get_trace_buffers_size() const override { return trace_buffers_size_; }
  void set_trace_buffers_size(std::uint32_t size) override { trace_buffers_size_ = size; }
  bool close() override;
  void enable_program_cache() override;
  void clear_program_cache() override;
  void disable_and_clear_program_cache() override;
  program_cache::detail::ProgramCache& get_program_cache() override { return *program_cache_; }
  std::size_t num_program_cache_entries() override;
  SubDeviceManagerId get_active_sub_device_manager_id() const override { return {}; }
  SubDeviceManagerId get_default_sub_device_manager_id() const override { return {}; }
  SubDeviceManagerId create_sub_device_manager(ttsl::Span<const SubDevice> sub_devices,
                                               DeviceAddr local_l1_size) override;
  SubDeviceManagerId create_sub_device_manager(std::initializer_list<SubDevice> sub_devices,
                                               DeviceAddr local_l1_size) override;
  void remove_sub_device_manager(SubDeviceManagerId sub_device_manager_id) override;
  void load_sub_device_manager(SubDeviceManagerId sub_device_manager_id) override;
  void clear_loaded_sub_device_manager() override;
  const std::vector<SubDeviceId>& get_sub_device_ids() const override { return sub_device_ids_; }
  const std::vector<SubDeviceId>& get_sub_device_stall_group() const override {
    return sub_device_ids_;
  }
  void set_sub_device_stall_group(ttsl::Span<const SubDeviceId> sub_device_ids) override;
  void reset_sub_device_stall_group() override {}
  std::uint32_t num_sub_devices() const override { return 1; }
  bool is_mmio_capable() const override { return has_pcie_; }
  std::shared_ptr<distributed::MeshDevice> get_mesh_device() override;
  void set_mesh_device(std::weak_ptr<distributed::MeshDevice> mesh_device);

  // Returns "n150", "p150", ...
  const std::string& board_name() const;

  // Records that the program's circular buffers lie on this chip from now on. If the program is
  // already registered, `layout` replaces its layout.
  void register_program(const detail::ProgramImpl* program,
                        std::shared_ptr<const dryrun::CbLayout> layout);
  // Removes the program from this chip. Does nothing if the program is not registered, because the
  // chip may have been closed since the registration.
  void unregister_program(const detail::ProgramImpl* program);
  // Returns the registered layout of the program, or null.
  std::shared_ptr<const dryrun::CbLayout> registered_layout(
      const detail::ProgramImpl* program) const;
  std::size_t num_registered_programs() const;

  // Returns the L1 that circular buffers of all registered programs take on this chip. On each
  // core, bytes that several programs use count once; the sums of all cores are added. For example,
  // thirty cached programs at the same addresses take as much as one. Globally allocated circular
  // buffers do not count, because they lie in L1 buffers.
  std::uint64_t get_total_cb_allocated() const;

 private:
  const ChipId id_;
  const ttmem::placement::Board& board_;
  const bool has_pcie_;
  const std::vector<SubDeviceId> sub_device_ids_{SubDeviceId{0}};

  std::atomic<bool> open_{false};
  std::uint8_t num_hw_cqs_ = 0;
  DispatchCoreConfig dispatch_;
  CoreCoord compute_grid_;
  std::atomic<std::uint32_t> trace_buffers_size_{0};
  std::unique_ptr<AllocatorImpl> allocator_;
  std::unique_ptr<Allocator> allocator_view_;
  std::unique_ptr<program_cache::detail::ProgramCache> program_cache_;

  mutable std::mutex mutex_;  // guards the members below
  std::weak_ptr<distributed::MeshDevice> mesh_device_;
  std::map<const detail::ProgramImpl*, std::shared_ptr<const dryrun::CbLayout>> programs_;
};

}  // namespace tt::tt_metal
