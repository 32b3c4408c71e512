// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/program_cache.hpp>
#include <vector>

#include "cluster.hpp"
#include "memory_banks.hpp"
#include "sub_device_managers.hpp"
#include "thread_pool.hpp"

namespace tt::tt_metal::distributed {

// The implementation of a MeshDevice.
class MeshDeviceImpl {
 public:
  // Makes a mesh of the chips. `parent` may be null.
  static std::shared_ptr<MeshDevice> make(const std::shared_ptr<dryrun::OpenChips>& chips,
                                          const MeshShape& shape,
                                          const std::vector<IDevice*>& devices,
                                          const std::shared_ptr<MeshDevice>& parent);

  MeshDeviceImpl(MeshDevice* self, const std::shared_ptr<dryrun::OpenChips>& chips,
                 const MeshShape& shape, const std::vector<IDevice*>& devices,
                 const std::shared_ptr<MeshDevice>& parent);

  bool close();
  std::shared_ptr<MeshDevice> create_submesh(const std::shared_ptr<MeshDevice>& self,
                                             const MeshShape& shape, const MeshCoordinate& offset);

  void begin_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id);
  void end_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id);
  void replay_mesh_trace(std::uint8_t cq_id, const MeshTraceId& trace_id, bool blocking);
  void release_mesh_trace(const MeshTraceId& trace_id);

  // Returns the first chip.
  const Device& reference() const;

  const int id;
  const MeshDeviceView view;
  const std::size_t root_chips;  // number of chips of the root mesh, which opened the chips
  const std::uint8_t num_hw_cqs;
  const std::unique_ptr<AllocatorImpl> allocator;
  const std::unique_ptr<Allocator> allocator_view;
  dryrun::SubDeviceManagers sub_devices;
  const std::unique_ptr<program_cache::detail::ProgramCache> program_cache;
  std::vector<std::unique_ptr<MeshCommandQueue>> queues;
  std::shared_ptr<MeshDevice> parent;
  dryrun::ThreadPool thread_pool;
  std::atomic<std::uint32_t> trace_buffers_size{0};
  std::atomic<bool> open{true};

  mutable std::mutex mutex;  // guards the members below
  std::vector<std::weak_ptr<MeshDevice>> submeshes;

 private:
  std::shared_ptr<MeshBuffer> make_trace_buffer(std::uint64_t recorded_programs);

  MeshDevice* const self_;
  std::shared_ptr<dryrun::OpenChips> chips_;
  // The traces and their buffers. The buffer is null until end_mesh_trace. Guarded by `mutex`.
  std::map<MeshTraceId, std::shared_ptr<MeshBuffer>> traces_;
};

}  // namespace tt::tt_metal::distributed
