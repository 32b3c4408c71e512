// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/system_mesh.hpp>

#include "error.hpp"
#include "mapped_devices.hpp"
#include "mesh_device_impl.hpp"

namespace tt::tt_metal::distributed {

using dryrun::require;

namespace {

MeshTraceId next_trace_id() {
  static std::atomic<std::uint32_t> next{0};
  // The order is relaxed, because the id publishes no other data.
  return MeshTraceId{next.fetch_add(1, std::memory_order_relaxed)};
}

std::shared_ptr<dryrun::OpenChips> open_chips(const std::vector<int>& device_ids,
                                              std::size_t l1_small_size,
                                              std::size_t trace_region_size,
                                              std::size_t num_command_queues,
                                              const DispatchCoreConfig& dispatch_core_config,
                                              std::size_t worker_l1_size) {
  return std::make_shared<dryrun::OpenChips>(
      device_ids, dryrun::OpenOptions{.num_hw_cqs = static_cast<std::uint8_t>(num_command_queues),
                                      .l1_small_size = l1_small_size,
                                      .trace_region_size = trace_region_size,
                                      .worker_l1_size = worker_l1_size,
                                      .dispatch_core_config = dispatch_core_config});
}

}  // namespace

MeshDevice::MeshDevice() = default;

MeshDevice::~MeshDevice() { close(); }

std::shared_ptr<MeshDevice> MeshDevice::create(
    const MeshDeviceConfig& config, std::size_t l1_small_size, std::size_t trace_region_size,
    std::size_t num_command_queues, const DispatchCoreConfig& dispatch_core_config,
    ttsl::Span<const std::uint32_t> /*l1_bank_remap*/, std::size_t worker_l1_size) {
  std::vector<int> ids = config.physical_device_ids();
  if (ids.empty()) {
    ids = mapped_devices(config.mesh_shape(), config.offset());
  } else {
    require(config.mesh_shape().has_value(),
            "Mesh shape must be provided when physical device ids are supplied");
  }
  const MeshShape shape = config.mesh_shape().value_or(SystemMesh::instance().shape());
  const auto chips = open_chips(ids, l1_small_size, trace_region_size, num_command_queues,
                                dispatch_core_config, worker_l1_size);
  return MeshDeviceImpl::make(chips, shape, {chips->devices().begin(), chips->devices().end()},
                              nullptr);
}

std::shared_ptr<MeshDevice> MeshDevice::create_unit_mesh(
    int device_id, std::size_t l1_small_size, std::size_t trace_region_size,
    std::size_t num_command_queues, const DispatchCoreConfig& dispatch_core_config,
    ttsl::Span<const std::uint32_t> l1_bank_remap, std::size_t worker_l1_size) {
  return create_unit_meshes({device_id}, l1_small_size, trace_region_size, num_command_queues,
                            dispatch_core_config, l1_bank_remap, worker_l1_size)
      .at(device_id);
}

std::map<int, std::shared_ptr<MeshDevice>> MeshDevice::create_unit_meshes(
    const std::vector<int>& device_ids, std::size_t l1_small_size, std::size_t trace_region_size,
    std::size_t num_command_queues, const DispatchCoreConfig& dispatch_core_config,
    ttsl::Span<const std::uint32_t> /*l1_bank_remap*/, std::size_t worker_l1_size) {
  require(!device_ids.empty(),
          "Cannot create unit meshes with empty device_ids. At least one device ID is required.");
  const auto chips = open_chips(device_ids, l1_small_size, trace_region_size, num_command_queues,
                                dispatch_core_config, worker_l1_size);
  const auto parent =
      MeshDeviceImpl::make(chips, MeshShape(1, static_cast<std::uint32_t>(device_ids.size())),
                           {chips->devices().begin(), chips->devices().end()}, nullptr);
  const auto submeshes = parent->create_submeshes(MeshShape(1, 1));
  std::map<int, std::shared_ptr<MeshDevice>> meshes;
  for (std::size_t i = 0; i < device_ids.size(); ++i) meshes[device_ids[i]] = submeshes[i];
  return meshes;
}

tt::ARCH MeshDevice::arch() const { return pimpl_->reference().arch(); }
int MeshDevice::id() const { return pimpl_->id; }
ChipId MeshDevice::build_id() const { return pimpl_->reference().id(); }
std::uint8_t MeshDevice::num_hw_cqs() const { return pimpl_->num_hw_cqs; }
bool MeshDevice::is_initialized() const { return pimpl_->open.load(std::memory_order_acquire); }
int MeshDevice::num_dram_channels() const { return pimpl_->reference().num_dram_channels(); }
std::uint32_t MeshDevice::l1_size_per_core() const {
  return pimpl_->reference().l1_size_per_core();
}
std::uint32_t MeshDevice::dram_size_per_channel() const {
  return pimpl_->reference().dram_size_per_channel();
}
CoreCoord MeshDevice::grid_size() const { return pimpl_->reference().grid_size(); }
CoreCoord MeshDevice::logical_grid_size() const { return pimpl_->reference().logical_grid_size(); }
CoreCoord MeshDevice::dram_grid_size() const { return pimpl_->reference().dram_grid_size(); }
CoreCoord MeshDevice::compute_with_storage_grid_size() const {
  return pimpl_->reference().compute_with_storage_grid_size();
}
CoreRangeSet MeshDevice::worker_cores(HalProgrammableCoreType core_type,
                                      SubDeviceId sub_device_id) const {
  return pimpl_->sub_devices.sub_device(sub_device_id).cores(core_type);
}
std::uint32_t MeshDevice::num_worker_cores(HalProgrammableCoreType core_type,
                                           SubDeviceId sub_device_id) const {
  return worker_cores(core_type, sub_device_id).num_cores();
}
CoreCoord MeshDevice::worker_core_from_logical_core(const CoreCoord& logical_core) const {
  return pimpl_->reference().worker_core_from_logical_core(logical_core);
}
std::vector<CoreCoord> MeshDevice::worker_cores_from_logical_cores(
    const std::vector<CoreCoord>& logical_cores) const {
  return pimpl_->reference().worker_cores_from_logical_cores(logical_cores);
}

const std::unique_ptr<Allocator>& MeshDevice::allocator() const { return pimpl_->allocator_view; }
const std::unique_ptr<Allocator>& MeshDevice::allocator(SubDeviceId sub_device_id) const {
  const auto* const own = pimpl_->sub_devices.l1_of(sub_device_id);
  return own == nullptr ? pimpl_->allocator_view : own->view;
}
const std::unique_ptr<AllocatorImpl>& MeshDevice::allocator_impl() const {
  return pimpl_->allocator;
}
const std::unique_ptr<AllocatorImpl>& MeshDevice::allocator_impl(SubDeviceId sub_device_id) const {
  const auto* const own = pimpl_->sub_devices.l1_of(sub_device_id);
  return own == nullptr ? pimpl_->allocator : own->allocator;
}
std::optional<DeviceAddr> MeshDevice::lowest_occupied_compute_l1_address() const {
  return lowest_occupied_compute_l1_address({});
}
std::optional<DeviceAddr> MeshDevice::lowest_occupied_compute_l1_address(
    ttsl::Span<const SubDeviceId> sub_device_ids) const {
  return pimpl_->sub_devices.lowest_occupied_l1_address(sub_device_ids);
}

std::uint32_t MeshDevice::get_trace_buffers_size() const { return pimpl_->trace_buffers_size; }
void MeshDevice::set_trace_buffers_size(std::uint32_t size) { pimpl_->trace_buffers_size = size; }
bool MeshDevice::close() { return pimpl_ != nullptr && pimpl_->close(); }
void MeshDevice::enable_program_cache() { pimpl_->program_cache->enable(); }
void MeshDevice::clear_program_cache() { pimpl_->program_cache->clear(); }
void MeshDevice::disable_and_clear_program_cache() {
  pimpl_->program_cache->clear();
  pimpl_->program_cache->disable();
}
program_cache::detail::ProgramCache& MeshDevice::get_program_cache() {
  return *pimpl_->program_cache;
}
std::size_t MeshDevice::num_program_cache_entries() { return pimpl_->program_cache->num_entries(); }
SubDeviceManagerId MeshDevice::get_active_sub_device_manager_id() const {
  return pimpl_->sub_devices.loaded_id();
}
SubDeviceManagerId MeshDevice::get_default_sub_device_manager_id() const {
  return pimpl_->sub_devices.default_id();
}
SubDeviceManagerId MeshDevice::create_sub_device_manager(
    std::initializer_list<SubDevice> sub_devices, DeviceAddr local_l1_size) {
  return pimpl_->sub_devices.create(sub_devices, local_l1_size);
}
SubDeviceManagerId MeshDevice::create_sub_device_manager(ttsl::Span<const SubDevice> sub_devices,
                                                         DeviceAddr local_l1_size) {
  return pimpl_->sub_devices.create(sub_devices, local_l1_size);
}
void MeshDevice::remove_sub_device_manager(SubDeviceManagerId sub_device_manager_id) {
  pimpl_->sub_devices.remove(sub_device_manager_id);
}
void MeshDevice::load_sub_device_manager(SubDeviceManagerId sub_device_manager_id) {
  pimpl_->sub_devices.load(sub_device_manager_id);
}
void MeshDevice::clear_loaded_sub_device_manager() {
  load_sub_device_manager(get_default_sub_device_manager_id());
}
const std::vector<SubDeviceId>& MeshDevice::get_sub_device_ids() const {
  return pimpl_->sub_devices.loaded().ids;
}
const std::vector<SubDeviceId>& MeshDevice::get_sub_device_stall_group() const {
  return pimpl_->sub_devices.loaded().stall_group;
}
void MeshDevice::set_sub_device_stall_group(ttsl::Span<const SubDeviceId> sub_device_ids) {
  pimpl_->sub_devices.set_stall_group(sub_device_ids);
}
void MeshDevice::reset_sub_device_stall_group() { pimpl_->sub_devices.reset_stall_group(); }
std::uint32_t MeshDevice::num_sub_devices() const {
  return static_cast<std::uint32_t>(get_sub_device_ids().size());
}
bool MeshDevice::is_mmio_capable() const {
  dryrun::fail("is_mmio_capable() is not supported on MeshDevice - use individual devices instead");
}
std::shared_ptr<MeshDevice> MeshDevice::get_mesh_device() { return shared_from_this(); }

MeshTraceId MeshDevice::begin_mesh_trace(MeshCommandQueue& cq) {
  const MeshTraceId trace_id = next_trace_id();
  pimpl_->begin_mesh_trace(static_cast<std::uint8_t>(cq.id()), trace_id);
  return trace_id;
}
void MeshDevice::begin_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id) {
  pimpl_->begin_mesh_trace(static_cast<std::uint8_t>(cq.id()), trace_id);
}
void MeshDevice::end_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id) {
  pimpl_->end_mesh_trace(static_cast<std::uint8_t>(cq.id()), trace_id);
}
void MeshDevice::replay_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id,
                                   bool blocking) {
  pimpl_->replay_mesh_trace(static_cast<std::uint8_t>(cq.id()), trace_id, blocking);
}
MeshTraceId MeshDevice::begin_mesh_trace(std::uint8_t cq_id) {
  return begin_mesh_trace(mesh_command_queue(cq_id));
}
void MeshDevice::begin_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id) {
  begin_mesh_trace(mesh_command_queue(cq_id), trace_id);
}
void MeshDevice::end_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id) {
  end_mesh_trace(mesh_command_queue(cq_id), trace_id);
}
void MeshDevice::replay_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id, bool blocking) {
  replay_mesh_trace(mesh_command_queue(cq_id), trace_id, blocking);
}
void MeshDevice::release_mesh_trace(const MeshTraceId& trace_id) {
  pimpl_->release_mesh_trace(trace_id);
}

std::vector<IDevice*> MeshDevice::get_devices() const { return pimpl_->view.get_devices(); }
IDevice* MeshDevice::get_device(ChipId physical_device_id) const {
  return pimpl_->view.get_device(pimpl_->view.find_device(physical_device_id));
}
IDevice* MeshDevice::get_device(const MeshCoordinate& coord) const {
  return pimpl_->view.get_device(coord);
}
IDevice* MeshDevice::get_device(std::size_t row_idx, std::size_t col_idx) const {
  return get_device(
      MeshCoordinate(static_cast<std::uint32_t>(row_idx), static_cast<std::uint32_t>(col_idx)));
}
DeviceIds MeshDevice::get_device_ids() const {
  DeviceIds ids;
  for (const IDevice* device : get_devices()) ids.push_back(device->id());
  return ids;
}
std::size_t MeshDevice::num_devices() const { return pimpl_->view.num_devices(); }
std::size_t MeshDevice::num_rows() const { return pimpl_->view.num_rows(); }
std::size_t MeshDevice::num_cols() const { return pimpl_->view.num_cols(); }
const MeshShape& MeshDevice::shape() const { return pimpl_->view.shape(); }
const MeshDeviceView& MeshDevice::get_view() const { return pimpl_->view; }
std::string MeshDevice::to_string() const {
  return dryrun::cat("MeshDevice(", shape(), " with ", num_devices(), " devices)");
}

bool MeshDevice::is_parent_mesh() const { return pimpl_->parent == nullptr; }
const std::shared_ptr<MeshDevice>& MeshDevice::get_parent_mesh() const { return pimpl_->parent; }
std::vector<std::shared_ptr<MeshDevice>> MeshDevice::get_submeshes() const {
  std::lock_guard lock(pimpl_->mutex);
  std::vector<std::shared_ptr<MeshDevice>> alive;
  for (const auto& weak : pimpl_->submeshes) {
    if (auto submesh = weak.lock()) alive.push_back(std::move(submesh));
  }
  return alive;
}
std::shared_ptr<MeshDevice> MeshDevice::create_submesh(
    const MeshShape& submesh_shape, const std::optional<MeshCoordinate>& offset) {
  return pimpl_->create_submesh(
      shared_from_this(), submesh_shape,
      offset.value_or(MeshCoordinate::zero_coordinate(submesh_shape.dims())));
}
std::vector<std::shared_ptr<MeshDevice>> MeshDevice::create_submeshes(
    const MeshShape& submesh_shape) {
  const auto dims = static_cast<std::int32_t>(shape().dims());
  std::vector<std::uint32_t> steps;
  for (std::int32_t dim = 0; dim < dims; ++dim) {
    require(submesh_shape[dim] > 0 && shape()[dim] % submesh_shape[dim] == 0, "Shape ", shape(),
            " is not divisible by submesh shape ", submesh_shape, " along dimension ", dim);
    steps.push_back(shape()[dim] / submesh_shape[dim]);
  }
  std::vector<std::shared_ptr<MeshDevice>> submeshes;
  for (MeshCoordinate offset : MeshCoordinateRange(MeshShape(steps))) {
    for (std::int32_t dim = 0; dim < dims; ++dim) offset[dim] *= submesh_shape[dim];
    submeshes.push_back(create_submesh(submesh_shape, offset));
  }
  return submeshes;
}

MeshCommandQueue& MeshDevice::mesh_command_queue(std::optional<std::uint8_t> cq_id) const {
  const std::size_t index = cq_id.value_or(0);
  require(index < pimpl_->queues.size(), "cq_id ", index, " is out of range: mesh device ", id(),
          " has ", pimpl_->queues.size(), " command queues");
  return *pimpl_->queues[index];
}

void MeshDevice::enqueue_to_thread_pool(std::function<void()>&& f) {
  pimpl_->thread_pool.enqueue(std::move(f));
}
void MeshDevice::wait_for_thread_pool() { pimpl_->thread_pool.wait(); }

}  // namespace tt::tt_metal::distributed
