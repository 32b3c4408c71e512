// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <vector>

namespace tt::tt_metal {

class IDevice;
class Program;

// Hears of memory as it is taken and given back. Calls come on the thread that caused them; see
// GraphTracker for which threads are heard.
class IGraphProcessor {
 public:
  IGraphProcessor() = default;
  virtual ~IGraphProcessor() = default;

  // False for a background observer, which does not make GraphTracker::is_enabled() true.
  virtual bool is_capture_processor() const { return true; }

  // One event per buffer; for a buffer on a mesh, device() is the MeshDevice. The buffer has its
  // address during both calls.
  virtual void track_allocate(const Buffer* /*buffer*/) {}
  virtual void track_deallocate(Buffer* /*buffer*/) {}

  // One event per circular buffer and chip, when the program's layout is computed and when it
  // comes to a further chip. A chip that already has this layout is not mentioned again.
  virtual void track_allocate_cb(const CoreRangeSet& /*core_range_set*/, std::uint64_t /*addr*/,
                                 std::uint64_t /*size*/, bool /*is_globally_allocated*/,
                                 const IDevice* /*device*/) {}
  virtual void track_allocate_dataflow_buffer(const CoreRangeSet& /*core_range_set*/,
                                              std::uint64_t /*addr*/, std::uint64_t /*size*/,
                                              bool /*borrows_memory*/, const IDevice* /*device*/) {}
  virtual void track_allocate_scratchpad(const CoreRangeSet& /*core_range_set*/,
                                         std::uint64_t /*addr*/, std::uint64_t /*size*/,
                                         const IDevice* /*device*/) {}

  // One event per destroyed program and chip. It does not say which program.
  virtual void track_deallocate_cb(const IDevice* /*device*/) {}

  // Only applications and libraries above call this.
  virtual void track_program(Program* /*program*/, const IDevice* /*device*/) {}
};

// Passes events on to the processors of the calling thread. The list of processors is thread_local,
// as in TT-Metal: a processor hears nothing of threads it was not pushed on, among them the worker
// threads of a mesh (MeshDevice::enqueue_to_thread_pool reaches those).
class GraphTracker {
 public:
  static GraphTracker& instance();

  GraphTracker(const GraphTracker&) = delete;
  GraphTracker& operator=(const GraphTracker&) = delete;

  // Whether this thread has a capture processor.
  bool is_enabled() const;

  void push_processor(const std::shared_ptr<IGraphProcessor>& processor);
  // Removes the one pushed last; none is not an error.
  void pop_processor();
  const std::vector<std::shared_ptr<IGraphProcessor>>& get_processors() const;
  void clear();

  void track_allocate(const Buffer* buffer);
  void track_deallocate(Buffer* buffer);
  void track_allocate_cb(const CoreRangeSet& core_range_set, std::uint64_t addr, std::uint64_t size,
                         bool is_globally_allocated, const IDevice* device);
  void track_allocate_dataflow_buffer(const CoreRangeSet& core_range_set, std::uint64_t addr,
                                      std::uint64_t size, bool borrows_memory,
                                      const IDevice* device);
  void track_allocate_scratchpad(const CoreRangeSet& core_range_set, std::uint64_t addr,
                                 std::uint64_t size, const IDevice* device);
  void track_deallocate_cb(const IDevice* device);
  void track_program(Program* program, const IDevice* device);

 private:
  GraphTracker() = default;

  static thread_local std::vector<std::shared_ptr<IGraphProcessor>> processors;
};

}  // namespace tt::tt_metal
