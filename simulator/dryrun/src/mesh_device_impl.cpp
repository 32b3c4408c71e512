// SPDX-License-Identifier: Apache-2.0
#include "mesh_device_impl.hpp"

#include <algorithm>

#include "distributed/fd_mesh_command_queue.hpp"
#include "error.hpp"
#include "read/placement/align.hpp"
#include "read/placement/bytes_per_bank.hpp"

namespace tt::tt_metal::distributed {

using dryrun::require;

namespace {

int next_mesh_id() {
  static std::atomic<int> next{0};
  // The order is relaxed, because the number publishes no other data.
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::shared_ptr<MeshDevice> MeshDeviceImpl::make(const std::shared_ptr<dryrun::OpenChips>& chips,
                                                 const MeshShape& shape,
                                                 const std::vector<IDevice*>& devices,
                                                 const std::shared_ptr<MeshDevice>& parent) {
  auto mesh = std::shared_ptr<MeshDevice>(new MeshDevice());
  mesh->pimpl_ = std::make_unique<MeshDeviceImpl>(mesh.get(), chips, shape, devices, parent);
  for (IDevice* device : devices) dynamic_cast<Device*>(device)->set_mesh_device(mesh);
  return mesh;
}

MeshDeviceImpl::MeshDeviceImpl(MeshDevice* self, const std::shared_ptr<dryrun::OpenChips>& chips,
                               const MeshShape& shape, const std::vector<IDevice*>& devices,
                               const std::shared_ptr<MeshDevice>& parent_mesh)
    : id(next_mesh_id()),
      view(shape, devices),
      root_chips(chips->devices().size()),
      num_hw_cqs(chips->options().num_hw_cqs),
      allocator(
          std::make_unique<AllocatorImpl>(devices.front()->allocator_impl()->banks()->config())),
      allocator_view(std::make_unique<Allocator>(allocator.get())),
      sub_devices(*allocator->banks()),
      program_cache(std::make_unique<program_cache::detail::ProgramCache>()),
      parent(parent_mesh),
      thread_pool(root_chips),
      self_(self),
      chips_(chips) {
  for (std::uint32_t queue = 0; queue < num_hw_cqs; ++queue) {
    queues.push_back(std::make_unique<FDMeshCommandQueue>(self, queue));
  }
}

bool MeshDeviceImpl::close() {
  if (!open.load(std::memory_order_acquire)) return false;
  program_cache->clear();
  std::map<MeshTraceId, std::shared_ptr<MeshBuffer>> traces;
  {
    std::lock_guard lock(mutex);
    traces.swap(traces_);
  }
  traces.clear();
  for (IDevice* device : view.get_devices()) {
    dynamic_cast<Device*>(device)->set_mesh_device(parent);
  }
  sub_devices.close();
  allocator->banks()->close();
  open.store(false, std::memory_order_release);
  chips_.reset();
  parent.reset();
  return true;
}

const Device& MeshDeviceImpl::reference() const {
  return dynamic_cast<const Device&>(*view.get_devices().front());
}

std::shared_ptr<MeshDevice> MeshDeviceImpl::create_submesh(const std::shared_ptr<MeshDevice>& self,
                                                           const MeshShape& shape,
                                                           const MeshCoordinate& offset) {
  require(open, "Mesh device ", id, " is closed: it has no submeshes");
  require(shape.dims() == view.shape().dims() && offset.dims() == shape.dims(), "Submesh shape ",
          shape, ", offset ", offset, " and mesh device shape ", view.shape(),
          " must have the same number of dimensions.");
  MeshCoordinate end = offset;
  for (std::int32_t dim = 0; dim < static_cast<std::int32_t>(shape.dims()); ++dim) {
    require(shape[dim] > 0, "Invalid submesh shape: (", shape,
            "). All dimensions must be positive.");
    require(offset[dim] + shape[dim] <= view.shape()[dim], "Submesh shape ", shape, " and offset ",
            offset, " does not fit within parent mesh (", view.shape(), ").");
    end[dim] = offset[dim] + shape[dim] - 1;
  }
  auto submesh = make(chips_, shape, view.get_devices(MeshCoordinateRange(offset, end)), self);
  std::lock_guard lock(mutex);
  submeshes.push_back(submesh);
  return submesh;
}

void MeshDeviceImpl::begin_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id) {
  MeshCommandQueue& cq = *queues.at(cq_id);
  std::scoped_lock lock(mutex, cq.mutex_);
  require(!cq.trace_id_, "CQ ", cq.id(), " is already being used for tracing tid ", trace_id);
  require(!traces_.contains(trace_id), "Trace already exists for tid ", trace_id, " on device ",
          id);
  traces_.emplace(trace_id, nullptr);
  cq.trace_id_ = trace_id;
  cq.recorded_programs_ = 0;
}

void MeshDeviceImpl::end_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id) {
  MeshCommandQueue& cq = *queues.at(cq_id);
  std::uint64_t recorded = 0;
  {
    std::scoped_lock lock(mutex, cq.mutex_);
    require(cq.trace_id_ == trace_id, "CQ ", cq.id(), " is not being used for tracing tid ",
            trace_id);
    recorded = cq.recorded_programs_;
  }
  auto buffer = make_trace_buffer(recorded);
  std::scoped_lock lock(mutex, cq.mutex_);
  cq.trace_id_.reset();
  traces_[trace_id] = std::move(buffer);
}

std::shared_ptr<MeshBuffer> MeshDeviceImpl::make_trace_buffer(std::uint64_t recorded_programs) {
  const DeviceAddr bytes =
      std::max<std::uint64_t>(recorded_programs, 1) * MeshDevice::kTraceBytesPerProgram;
  const DeviceAddr page =
      ttmem::placement::trace_page_bytes(bytes, allocator->banks()->num_banks(BufferType::DRAM));
  const DeviceAddr padded = ttmem::placement::align_up(bytes, page);
  const DeviceAddr region = allocator->banks()->config().map.trace_region_bytes;
  const DeviceAddr all_traces = trace_buffers_size + padded;
  if (region != 0 && all_traces > region) {
    dryrun::fail_for_memory("Creating trace buffers of size ", all_traces, "B on MeshDevice ", id,
                            ", but only ", region, "B is allocated for trace region.");
  }
  DeviceLocalBufferConfig local{.page_size = page, .buffer_type = BufferType::TRACE};
  if (region == 0) {
    local.buffer_type = BufferType::DRAM;
    local.bottom_up = false;
  }
  auto buffer = MeshBuffer::create(ReplicatedBufferConfig{.size = padded}, local, self_);
  trace_buffers_size += static_cast<std::uint32_t>(padded);
  return buffer;
}

void MeshDeviceImpl::replay_mesh_trace(std::uint8_t /*cq_id*/, const MeshTraceId& trace_id,
                                       bool /*blocking*/) {
  std::lock_guard lock(mutex);
  const auto found = traces_.find(trace_id);
  require(found != traces_.end() && found->second != nullptr, "Trace instance ", trace_id,
          " must exist on Mesh device ", id);
}

void MeshDeviceImpl::release_mesh_trace(const MeshTraceId& trace_id) {
  std::shared_ptr<MeshBuffer> buffer;
  {
    std::lock_guard lock(mutex);
    const auto found = traces_.find(trace_id);
    if (found == traces_.end()) return;
    buffer = std::move(found->second);
    traces_.erase(found);
  }
  if (buffer) trace_buffers_size -= static_cast<std::uint32_t>(buffer->size());
}

}  // namespace tt::tt_metal::distributed
