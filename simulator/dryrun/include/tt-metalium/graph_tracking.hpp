// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <type_traits>
#include <vector>

namespace tt::tt_metal {

class IDevice;
class Program;

struct TrackedArgument {
  std::any value;
  std::string (*to_string_fn)(const std::any&);
};

// Returns an empty text, because the dry run does not use the arguments.
template <typename T>
std::string serialize_tracked_arg(const std::any& /*argument*/) {
  return {};
}

// Receives events when memory is allocated and freed. The functions are called on the thread that
// causes the event. GraphTracker describes which threads are observed.
class IGraphProcessor {
 public:
  IGraphProcessor() = default;
  virtual ~IGraphProcessor() = default;

  // Returns false for a processor that observes in the background. GraphTracker::is_enabled()
  // ignores such a processor.
  virtual bool is_capture_processor() const { return true; }

  // Each function is called once for a buffer. For a buffer on a mesh, device() is the MeshDevice.
  // The buffer has an address during both calls.
  virtual void track_allocate(const Buffer* /*buffer*/) {}
  virtual void track_deallocate(Buffer* /*buffer*/) {}

  // Called once for each circular buffer and chip when the program's layout is computed, and when
  // the program is placed on a further chip. Not called again for a chip that already has this
  // layout.
  virtual void track_allocate_cb(const CoreRangeSet& /*core_range_set*/, std::uint64_t /*addr*/,
                                 std::uint64_t /*size*/, bool /*is_globally_allocated*/,
                                 const IDevice* /*device*/) {}
  virtual void track_allocate_dataflow_buffer(const CoreRangeSet& /*core_range_set*/,
                                              std::uint64_t /*addr*/, std::uint64_t /*size*/,
                                              bool /*borrows_memory*/, const IDevice* /*device*/) {}
  virtual void track_allocate_scratchpad(const CoreRangeSet& /*core_range_set*/,
                                         std::uint64_t /*addr*/, std::uint64_t /*size*/,
                                         const IDevice* /*device*/) {}

  // Called once for each chip of a destroyed program. The call does not name the program.
  virtual void track_deallocate_cb(const IDevice* /*device*/) {}

  // The dry run never calls these functions itself. Applications and libraries above TT-Metal call
  // them through GraphTracker.
  virtual void track_program(Program* /*program*/, const IDevice* /*device*/) {}
  virtual void track_function_start(std::string_view /*function_name*/,
                                    std::span<TrackedArgument> /*input_parameters*/) {}
  virtual void track_function_end() {}
  virtual void track_function_end(const std::any& /*output_tensors*/) {}
};

// Passes events on to the processors of the calling thread. The list of processors is thread_local,
// as in TT-Metal: a processor receives only the events of threads on which it was pushed. To
// receive the events of a mesh's worker threads, push it there too, with tasks of
// MeshDevice::enqueue_to_thread_pool.
class GraphTracker {
 public:
  static GraphTracker& instance();

  GraphTracker(const GraphTracker&) = delete;
  GraphTracker& operator=(const GraphTracker&) = delete;

  // Returns true if this thread has a capture processor.
  bool is_enabled() const;

  void push_processor(const std::shared_ptr<IGraphProcessor>& processor);
  // Removes the processor that was pushed last. Does nothing if there is none.
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

  // Reports the begin and the end of an operation on this thread. Inline as in TT-Metal: if there
  // is no processor, the call costs only a branch.
  template <typename... Args>
  void track_function_start(std::string_view function_name, Args&&... args) {
    if (processors.empty()) return;
    std::array<TrackedArgument, sizeof...(Args)> params{TrackedArgument{
        std::any(std::ref(args)), &serialize_tracked_arg<std::remove_reference_t<Args>>}...};
    for (const auto& processor : processors) processor->track_function_start(function_name, params);
  }
  void track_function_end() {
    for (const auto& processor : processors) processor->track_function_end();
  }
  template <typename Result>
  void track_function_end(Result& output_tensors) {
    for (const auto& processor : processors) {
      processor->track_function_end(std::any(std::ref(output_tensors)));
    }
  }

 private:
  GraphTracker() = default;

  static thread_local std::vector<std::shared_ptr<IGraphProcessor>> processors;
};

}  // namespace tt::tt_metal
