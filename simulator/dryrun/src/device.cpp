// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/device_impl.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/program_cache.hpp>
#include <tt-metalium/sub_device.hpp>

#include "cb_layout.hpp"
#include "error.hpp"
#include "memory_banks.hpp"
#include "system.hpp"

namespace tt {

std::string arch_to_str(ARCH arch) {
  switch (arch) {
    case ARCH::WORMHOLE_B0:
      return "wormhole_b0";
    case ARCH::BLACKHOLE:
      return "blackhole";
    case ARCH::QUASAR:
      return "quasar";
    case ARCH::Invalid:
      break;
  }
  return "invalid";
}

}  // namespace tt

namespace tt::tt_metal {

Device::Device(ChipId id, const dryrun::Board& board, bool has_pcie)
    : id_(id),
      board_(board),
      has_pcie_(has_pcie),
      compute_grid_(dryrun::core_coord(board.compute_grid)),
      program_cache_(std::make_unique<program_cache::detail::ProgramCache>()) {}

Device::~Device() = default;

bool Device::initialize(std::uint8_t num_hw_cqs, std::size_t l1_small_size,
                        std::size_t trace_region_size, std::size_t worker_l1_size,
                        ttsl::Span<const std::uint32_t> /*l1_bank_remap*/, bool /*minimal*/) {
  dryrun::require(!is_initialized(), "Device ", id_, " is already initialized!");
  const CoreCoord grid = dryrun::core_coord(
      dispatch_.get_dispatch_core_type() == DispatchCoreType::ETH ? board_.compute_grid_eth_dispatch
                                                                  : board_.compute_grid);
  const auto config = dryrun::BanksConfig::make(board_, grid,
                                                {.l1_small_size = l1_small_size,
                                                 .trace_region_size = trace_region_size,
                                                 .worker_l1_size = worker_l1_size});
  allocator_ = std::make_unique<AllocatorImpl>(config);
  allocator_view_ = std::make_unique<Allocator>(allocator_.get());
  num_hw_cqs_ = num_hw_cqs;
  compute_grid_ = grid;
  trace_buffers_size_ = 0;
  // Publishes all fields above; pairs with the acquire in is_initialized().
  open_.store(true, std::memory_order_release);
  return true;
}

bool Device::close() {
  if (!is_initialized()) return false;
  program_cache_->clear();
  allocator_->banks()->close();
  open_.store(false, std::memory_order_release);
  std::lock_guard lock(mutex_);
  programs_.clear();
  mesh_device_.reset();
  return true;
}

tt::ARCH Device::arch() const {
  return board_.chip.arch == ttmem::placement::Arch::wormhole_b0 ? tt::ARCH::WORMHOLE_B0
                                                                 : tt::ARCH::BLACKHOLE;
}
const std::string& Device::board_name() const { return board_.name; }
int Device::num_dram_channels() const { return static_cast<int>(board_.dram_channels); }
std::uint32_t Device::l1_size_per_core() const { return board_.chip.l1_bytes_per_core; }
std::uint32_t Device::dram_size_per_channel() const {
  return static_cast<std::uint32_t>(board_.chip.dram_bytes_per_channel);
}
CoreCoord Device::grid_size() const { return dryrun::core_coord(board_.chip.noc_grid); }
CoreCoord Device::logical_grid_size() const { return dryrun::core_coord(board_.tensix_grid); }
CoreCoord Device::dram_grid_size() const { return {board_.dram_channels, 1}; }

CoreRangeSet Device::worker_cores(HalProgrammableCoreType, SubDeviceId) const {
  return CoreRange({0, 0}, {compute_grid_.x - 1, compute_grid_.y - 1});
}
std::uint32_t Device::num_worker_cores(HalProgrammableCoreType core_type,
                                       SubDeviceId sub_device_id) const {
  return worker_cores(core_type, sub_device_id).num_cores();
}
CoreCoord Device::worker_core_from_logical_core(const CoreCoord& logical_core) const {
  return logical_core;
}
std::vector<CoreCoord> Device::worker_cores_from_logical_cores(
    const std::vector<CoreCoord>& logical_cores) const {
  return logical_cores;
}

std::optional<DeviceAddr> Device::lowest_occupied_compute_l1_address() const {
  return allocator_->banks()->lowest_occupied_l1_address();
}
std::optional<DeviceAddr> Device::lowest_occupied_compute_l1_address(
    ttsl::Span<const SubDeviceId>) const {
  return lowest_occupied_compute_l1_address();
}

SubDeviceManagerId Device::create_sub_device_manager(ttsl::Span<const SubDevice>, DeviceAddr) {
  dryrun::fail("create_sub_device_manager is deprecated for device");
}
SubDeviceManagerId Device::create_sub_device_manager(std::initializer_list<SubDevice>, DeviceAddr) {
  dryrun::fail("create_sub_device_manager is deprecated for device");
}
void Device::remove_sub_device_manager(SubDeviceManagerId) {
  dryrun::fail("remove_sub_device_manager is deprecated for device");
}
void Device::load_sub_device_manager(SubDeviceManagerId) {
  dryrun::fail("load_sub_device_manager is deprecated for device");
}
void Device::clear_loaded_sub_device_manager() {
  dryrun::fail("clear_loaded_sub_device_manager is deprecated for device");
}
void Device::set_sub_device_stall_group(ttsl::Span<const SubDeviceId>) {
  dryrun::fail("set_sub_device_stall_group is deprecated for device");
}

void Device::enable_program_cache() { program_cache_->enable(); }
void Device::clear_program_cache() { program_cache_->clear(); }
void Device::disable_and_clear_program_cache() {
  program_cache_->clear();
  program_cache_->disable();
}
std::size_t Device::num_program_cache_entries() { return program_cache_->num_entries(); }

std::shared_ptr<distributed::MeshDevice> Device::get_mesh_device() {
  std::lock_guard lock(mutex_);
  return mesh_device_.lock();
}
void Device::set_mesh_device(std::weak_ptr<distributed::MeshDevice> mesh_device) {
  std::lock_guard lock(mutex_);
  mesh_device_ = std::move(mesh_device);
}

void Device::register_program(const detail::ProgramImpl* program,
                              std::shared_ptr<const dryrun::CbLayout> layout) {
  std::lock_guard lock(mutex_);
  programs_[program] = std::move(layout);
}

void Device::unregister_program(const detail::ProgramImpl* program) {
  std::lock_guard lock(mutex_);
  programs_.erase(program);
}

std::shared_ptr<const dryrun::CbLayout> Device::registered_layout(
    const detail::ProgramImpl* program) const {
  std::lock_guard lock(mutex_);
  const auto found = programs_.find(program);
  return found == programs_.end() ? nullptr : found->second;
}

std::size_t Device::num_registered_programs() const {
  std::lock_guard lock(mutex_);
  return programs_.size();
}

std::uint64_t Device::get_total_cb_allocated() const {
  std::vector<std::shared_ptr<const dryrun::CbLayout>> layouts;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [program, layout] : programs_) layouts.push_back(layout);
  }
  return dryrun::physical_bytes(layouts);
}

}  // namespace tt::tt_metal
