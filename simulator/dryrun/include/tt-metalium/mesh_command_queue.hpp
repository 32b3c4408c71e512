// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <tt-metalium/mesh_buffer.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/mesh_event.hpp>
#include <tt-metalium/mesh_trace_id.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/shard_data_transfer.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>
#include <vector>

namespace tt::tt_metal::distributed {

// A queue of a mesh. Every command is complete when its call returns. Data does not move, so a read
// returns zeros. All methods may be called from any thread.
class MeshCommandQueue {
 public:
  virtual ~MeshCommandQueue() = default;
  MeshCommandQueue(const MeshCommandQueue&) = delete;
  MeshCommandQueue& operator=(const MeshCommandQueue&) = delete;

  MeshDevice* device() const { return mesh_device_; }
  std::uint32_t id() const { return id_; }
  // Returns the trace that is being recorded, if any.
  std::optional<MeshTraceId> trace_id() const;

  // See EnqueueMeshWorkload.
  virtual void enqueue_mesh_workload(MeshWorkload& mesh_workload, bool blocking) = 0;

  void enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer>& buffer, const void* host_data,
                                 bool blocking);
  void enqueue_write_shards(const std::shared_ptr<MeshBuffer>& mesh_buffer,
                            const std::vector<ShardDataTransfer>& transfers, bool blocking);
  void enqueue_read_mesh_buffer(void* host_data, const std::shared_ptr<MeshBuffer>& buffer,
                                bool blocking);
  void enqueue_read_shards(const std::vector<ShardDataTransfer>& transfers,
                           const std::shared_ptr<MeshBuffer>& mesh_buffer, bool blocking);

  MeshEvent enqueue_record_event(
      ttsl::Span<const SubDeviceId> sub_device_ids = {},
      const std::optional<MeshCoordinateRange>& device_range = std::nullopt);
  MeshEvent enqueue_record_event_to_host(
      ttsl::Span<const SubDeviceId> sub_device_ids = {},
      const std::optional<MeshCoordinateRange>& device_range = std::nullopt);
  void enqueue_wait_for_event(const MeshEvent& /*sync_event*/) {}
  void finish(ttsl::Span<const SubDeviceId> /*sub_device_ids*/ = {}) {}

 protected:
  MeshCommandQueue(MeshDevice* mesh_device, std::uint32_t id)
      : mesh_device_(mesh_device), id_(id) {}

 private:
  friend class FDMeshCommandQueue;
  friend class MeshDeviceImpl;

  MeshDevice* const mesh_device_;
  const std::uint32_t id_;
  std::atomic<std::uint32_t> next_event_{0};

  mutable std::mutex mutex_;  // guards the members below
  std::optional<MeshTraceId> trace_id_;
  std::uint64_t recorded_programs_ = 0;
};

}  // namespace tt::tt_metal::distributed
