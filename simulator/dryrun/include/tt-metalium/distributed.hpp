// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_event.hpp>
#include <tt-metalium/mesh_trace_id.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>
#include <vector>

namespace tt::tt_metal::distributed {

// Places each program of the workload on every chip of the mesh, unless the program is already
// placed there. This is the only effect of a run in the dry run. If the workload has several
// programs, the mesh's worker threads place them in the first run.
//
// Throws if circular buffers and L1 buffers clash, or if circular buffers do not fit into L1 or lie
// outside the compute grid. As in TT-Metal, the error is detected only after the placement: the
// program has been reported to processors, and stays placed until it is destroyed. The other
// programs of the workload are placed too.
void EnqueueMeshWorkload(MeshCommandQueue& mesh_cq, MeshWorkload& mesh_workload, bool blocking);

template <typename DType>
void WriteShard(MeshCommandQueue& mesh_cq, const std::shared_ptr<MeshBuffer>& mesh_buffer,
                std::vector<DType>& src, const MeshCoordinate& coord, bool blocking = false) {
  mesh_cq.enqueue_write_shards(mesh_buffer, {ShardDataTransfer{coord}.host_data(src.data())},
                               blocking);
}

template <typename DType>
void ReadShard(MeshCommandQueue& mesh_cq, std::vector<DType>& dst,
               const std::shared_ptr<MeshBuffer>& mesh_buffer, const MeshCoordinate& coord,
               bool blocking = true) {
  dst.resize(mesh_buffer->device_local_size() / sizeof(DType));
  mesh_cq.enqueue_read_shards({ShardDataTransfer{coord}.host_data(dst.data())}, mesh_buffer,
                              blocking);
}

template <typename DType>
void EnqueueWriteMeshBuffer(MeshCommandQueue& mesh_cq, std::shared_ptr<MeshBuffer>& mesh_buffer,
                            const std::vector<DType>& src, bool blocking = false) {
  mesh_cq.enqueue_write_mesh_buffer(mesh_buffer, src.data(), blocking);
}

template <typename DType>
void EnqueueReadMeshBuffer(MeshCommandQueue& mesh_cq, std::vector<DType>& dst,
                           std::shared_ptr<MeshBuffer>& mesh_buffer, bool blocking = true) {
  dst.resize(mesh_buffer->size() / sizeof(DType));
  mesh_cq.enqueue_read_mesh_buffer(dst.data(), mesh_buffer, blocking);
}

// Return at once. In the dry run, every command is complete when its call returns.
void EventSynchronize(const MeshEvent& event);
bool EventQuery(const MeshEvent& event);
void Synchronize(MeshDevice* device, std::optional<std::uint8_t> cq_id,
                 ttsl::Span<const SubDeviceId> sub_device_ids = {});
void Finish(MeshCommandQueue& mesh_cq, ttsl::Span<const SubDeviceId> sub_device_ids = {});

MeshTraceId BeginTraceCapture(MeshDevice* device, std::uint8_t cq_id);

}  // namespace tt::tt_metal::distributed
