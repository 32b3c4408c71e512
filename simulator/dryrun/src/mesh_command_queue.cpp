// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/mesh_command_queue.hpp>

#include "distributed/fd_mesh_command_queue.hpp"
#include "mesh_workload_impl.hpp"

namespace tt::tt_metal::distributed {

std::optional<MeshTraceId> MeshCommandQueue::trace_id() const {
  std::lock_guard lock(mutex_);
  return trace_id_;
}

void FDMeshCommandQueue::enqueue_mesh_workload(MeshWorkload& mesh_workload, bool /*blocking*/) {
  mesh_workload.impl().compile(*device());
  mesh_workload.impl().check_sub_device(*device());
  std::lock_guard lock(mutex_);
  if (trace_id_) recorded_programs_ += mesh_workload.get_programs().size();
}

void MeshCommandQueue::enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer>&, const void*,
                                                 bool) {}

void MeshCommandQueue::enqueue_write_shards(const std::shared_ptr<MeshBuffer>&,
                                            const std::vector<ShardDataTransfer>&, bool) {}

void MeshCommandQueue::enqueue_read_mesh_buffer(void* host_data,
                                                const std::shared_ptr<MeshBuffer>& buffer, bool) {
  if (host_data != nullptr) std::memset(host_data, 0, buffer->size());
}

void MeshCommandQueue::enqueue_read_shards(const std::vector<ShardDataTransfer>& transfers,
                                           const std::shared_ptr<MeshBuffer>& mesh_buffer, bool) {
  for (const ShardDataTransfer& transfer : transfers) {
    const auto region = transfer.region();
    const DeviceAddr bytes = region ? region->size : mesh_buffer->device_local_size();
    if (transfer.host_data() != nullptr) std::memset(transfer.host_data(), 0, bytes);
  }
}

MeshEvent MeshCommandQueue::enqueue_record_event(
    ttsl::Span<const SubDeviceId>, const std::optional<MeshCoordinateRange>& device_range) {
  return {next_event_++, mesh_device_, id_,
          device_range.value_or(MeshCoordinateRange(mesh_device_->shape()))};
}

MeshEvent MeshCommandQueue::enqueue_record_event_to_host(
    ttsl::Span<const SubDeviceId> sub_device_ids,
    const std::optional<MeshCoordinateRange>& device_range) {
  return enqueue_record_event(sub_device_ids, device_range);
}

void EnqueueMeshWorkload(MeshCommandQueue& mesh_cq, MeshWorkload& mesh_workload, bool blocking) {
  mesh_cq.enqueue_mesh_workload(mesh_workload, blocking);
}

void EventSynchronize(const MeshEvent&) {}
bool EventQuery(const MeshEvent&) { return true; }
void Synchronize(MeshDevice*, std::optional<std::uint8_t>, ttsl::Span<const SubDeviceId>) {}
void Finish(MeshCommandQueue& mesh_cq, ttsl::Span<const SubDeviceId> sub_device_ids) {
  mesh_cq.finish(sub_device_ids);
}

MeshTraceId BeginTraceCapture(MeshDevice* device, std::uint8_t cq_id) {
  return device->begin_mesh_trace(cq_id);
}

}  // namespace tt::tt_metal::distributed
