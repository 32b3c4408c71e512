// SPDX-License-Identifier: Apache-2.0
//
// Helpers that the tests of the dry run share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>
#include <vector>

namespace dryrun_test {

using namespace tt::tt_metal;
using distributed::DeviceIds;
using distributed::MeshBuffer;
using distributed::MeshCoordinate;
using distributed::MeshCoordinateRange;
using distributed::MeshDevice;
using distributed::MeshDeviceConfig;
using distributed::MeshShape;
using distributed::MeshWorkload;

inline void use_system(const std::string& name) {
  ::setenv("TTMEM_DRYRUN_SYSTEM", name.c_str(), 1);
}

// Returns the message of the exception that the action throws, or "(no error)" if the action throws
// none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "(no error)";
}

struct CbEvent {
  CoreRangeSet cores;
  std::uint64_t address;
  std::uint64_t size;
  bool globally_allocated;
  const IDevice* device;
};

// Records the events that it receives. The same recorder may be pushed on several threads.
class Recorder final : public IGraphProcessor {
 public:
  bool is_capture_processor() const override { return false; }
  void track_allocate(const Buffer* buffer) override {
    std::lock_guard lock(mutex_);
    allocated_.push_back(buffer->unique_id());
  }
  void track_deallocate(Buffer* buffer) override {
    std::lock_guard lock(mutex_);
    freed_.push_back(buffer->unique_id());
  }
  void track_allocate_cb(const CoreRangeSet& cores, std::uint64_t address, std::uint64_t size,
                         bool globally_allocated, const IDevice* device) override {
    std::lock_guard lock(mutex_);
    cbs_.push_back({cores, address, size, globally_allocated, device});
  }
  void track_deallocate_cb(const IDevice* device) override {
    std::lock_guard lock(mutex_);
    cb_frees_.push_back(device);
  }

  // Each take function returns the events since its previous call.
  std::vector<std::size_t> take_allocated() { return take(allocated_); }
  std::vector<std::size_t> take_freed() { return take(freed_); }
  std::vector<CbEvent> take_cbs() { return take(cbs_); }
  std::vector<const IDevice*> take_cb_frees() { return take(cb_frees_); }

 private:
  template <typename T>
  std::vector<T> take(std::vector<T>& events) {
    std::lock_guard lock(mutex_);
    return std::exchange(events, {});
  }

  std::mutex mutex_;
  std::vector<std::size_t> allocated_, freed_;
  std::vector<CbEvent> cbs_;
  std::vector<const IDevice*> cb_frees_;
};

// Pushes a recorder on the thread that constructs it. The destructor pops the recorder.
class Listening {
 public:
  Listening() { GraphTracker::instance().push_processor(recorder_); }
  ~Listening() { GraphTracker::instance().pop_processor(); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  Recorder* operator->() { return recorder_.get(); }
  const std::shared_ptr<Recorder>& shared() { return recorder_; }

 private:
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

inline CoreRange grid(std::size_t columns, std::size_t rows) {
  return CoreRange({0, 0}, {columns - 1, rows - 1});
}

inline CBHandle add_cb(Program& program, const CoreRangeSet& cores, std::uint32_t bytes,
                       std::uint8_t index = 0) {
  return CreateCircularBuffer(program, cores,
                              CircularBufferConfig(bytes, {{index, tt::DataFormat::Float16_b}})
                                  .set_page_size(index, bytes));
}

inline CBHandle add_global_cb(Program& program, const CoreRangeSet& cores, std::uint32_t bytes,
                              const Buffer& buffer, std::uint8_t index) {
  return CreateCircularBuffer(
      program, cores,
      CircularBufferConfig(bytes, {{index, tt::DataFormat::Float16_b}}, buffer)
          .set_page_size(index, bytes));
}

// Returns a workload with one program, which runs on the whole mesh.
inline MeshWorkload workload_of(MeshDevice& mesh, Program&& program) {
  MeshWorkload workload;
  workload.add_program(MeshCoordinateRange(mesh.shape()), std::move(program));
  return workload;
}

inline void run(MeshDevice& mesh, MeshWorkload& workload) {
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), workload, false);
  distributed::Finish(mesh.mesh_command_queue());
}

// Returns a sharding that gives each core of the range `pages_per_core` pages.
inline BufferShardingArgs height_sharded(const CoreRangeSet& cores, std::uint32_t pages_per_core,
                                         std::uint32_t page_size) {
  return {ShardSpecBuffer(cores, {pages_per_core, page_size}, ShardOrientation::ROW_MAJOR,
                          {1, page_size}, {pages_per_core * cores.num_cores(), 1}),
          TensorMemoryLayout::HEIGHT_SHARDED};
}

inline std::uint64_t cb_bytes(const IDevice* device) {
  return dynamic_cast<const Device&>(*device).get_total_cb_allocated();
}

}  // namespace dryrun_test
