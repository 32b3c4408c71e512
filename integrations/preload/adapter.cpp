// SPDX-License-Identifier: Apache-2.0
//
// This part of the adapter knows TT-Metal's types. It defines one wrapper for each function of
// wrapped.h. The adapter is compiled against the TT-Metal of the process, and loaded by the stub
// (preload.c).
//
// A wrapper calls its function with the arguments that it was given. An allocation is recorded
// after the call. A free is recorded before the call, because after the call another thread may
// already have the memory. If the function throws, the exception passes through the wrapper to the
// caller.
#include <ttmem/ttmem.h>

#include <iterator>
#include <span>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/mesh_trace_id.hpp>
#include <utility>

#include "labels.hpp"
#include "quietly.hpp"
#include "runtime_objects.hpp"
#include "runtime_reporter.hpp"
#include "wrapped.h"

namespace ttmem::preload {
namespace {

using tm::detail::ProgramImpl;
using tm::distributed::MeshCommandQueue;
using tm::distributed::MeshTraceId;
using tm::distributed::MeshWorkload;

void* originals[TTMEM_W_COUNT];

// Calls the runtime's own function.
template <int number, typename Result, typename... Args>
Result original(Args... args) {
  return reinterpret_cast<Result (*)(Args...)>(originals[number])(args...);
}

RuntimeReporter& reporter() { return RuntimeReporter::instance(); }

// ---- Buffers ----

// Gives a variable another value while this object lives. The destructor restores the earlier
// value.
template <typename Value>
class Temporarily {
 public:
  Temporarily(Value& variable, Value value)
      : variable_(variable), outer_(std::exchange(variable, value)) {}
  ~Temporarily() { variable_ = outer_; }
  Temporarily(const Temporarily&) = delete;
  Temporarily& operator=(const Temporarily&) = delete;

 private:
  Value& variable_;
  const Value outer_;
};

// The buffer that a wrapper on this thread is allocating or freeing. The wrapper records this
// buffer, so the hooks do not record it again.
thread_local const tm::Buffer* in_wrapper = nullptr;

void buffer_allocate(tm::Buffer* self) {
  {
    const Temporarily<const tm::Buffer*> in(in_wrapper, self);
    original<TTMEM_W_buffer_allocate, void>(self);
  }
  reporter().allocated(*self);
}

void buffer_deallocate(tm::Buffer* self) {
  if (self->is_allocated()) reporter().freed(*self);
  const Temporarily<const tm::Buffer*> in(in_wrapper, self);
  original<TTMEM_W_buffer_deallocate, void>(self);
}

void track_allocate(tm::GraphTracker* self, const tm::Buffer* buffer) {
  original<TTMEM_W_track_allocate, void>(self, buffer);
  if (buffer != in_wrapper) reporter().allocated(*buffer);
}

void track_deallocate(tm::GraphTracker* self, tm::Buffer* buffer) {
  if (buffer != in_wrapper) reporter().freed(*buffer);
  original<TTMEM_W_track_deallocate, void>(self, buffer);
}

// ---- Programs ----

// Records the program when its placement ends, even by an exception: circular buffers that clash
// are placed before the runtime throws. A nested placement of the same program is not recorded,
// because the outer placement records the program.
class PlacementScope {
 public:
  PlacementScope(ProgramImpl& program, const tm::IDevice& device, bool lays_out)
      : program_(program),
        device_(device),
        outer_(std::exchange(innermost, this)),
        is_compiled_(!lays_out),
        is_laid_out_(lays_out) {
    if (outer_ == nullptr) begin_layout();
  }
  ~PlacementScope() {
    innermost = outer_;
    if (outer_ != nullptr && &outer_->program_ == &program_) {
      outer_->is_laid_out_ = true;
    } else {
      record();
    }
  }
  PlacementScope(const PlacementScope&) = delete;
  PlacementScope& operator=(const PlacementScope&) = delete;

  // Records the program of the running placement, if there is one on this thread. Call this before
  // an out-of-memory error is reported. If nobody catches the error, no destructor runs and the
  // program would be missing.
  static void record_running() {
    if (innermost != nullptr) innermost->record();
  }

  // Returns true if a placement is running on this thread.
  static bool is_running() { return innermost != nullptr; }

 private:
  void record() { reporter().placed(program_, device_, is_compiled_, is_laid_out_); }

  static thread_local PlacementScope* innermost;

  ProgramImpl& program_;
  const tm::IDevice& device_;
  PlacementScope* const outer_;
  const bool is_compiled_;
  bool is_laid_out_;
};
thread_local PlacementScope* PlacementScope::innermost = nullptr;

void compile_and_allocate(ProgramImpl* self, tm::IDevice* device, bool force_slow_dispatch) {
  const PlacementScope placement(*self, *device, false);
  original<TTMEM_W_compile_and_allocate, void>(self, device, force_slow_dispatch);
}

void allocate_circular_buffers(ProgramImpl* self, const tm::IDevice* device) {
  const PlacementScope placement(*self, *device, true);
  original<TTMEM_W_allocate_circular_buffers, void>(self, device);
}

void track_allocate_cb(tm::GraphTracker* self, const tm::CoreRangeSet& cores, std::uint64_t address,
                       std::uint64_t bytes, bool is_view, const tm::IDevice* chip) {
  original<TTMEM_W_track_allocate_cb, void, tm::GraphTracker*, const tm::CoreRangeSet&>(
      self, cores, address, bytes, is_view, chip);
  // If no placement is running, the circular buffer belongs to a dry capture. A dry capture
  // allocates nothing, so nothing is recorded.
  if (PlacementScope::is_running()) {
    tt_metal::quietly([&] { cb_reported(cores, address, bytes, is_view, chip); });
  }
}

void allocate_dataflow_buffers(ProgramImpl* self, const tm::IDevice* device) {
  const PlacementScope placement(*self, *device, true);
  original<TTMEM_W_allocate_dataflow_buffers, void>(self, device);
}

void allocate_scratchpads(ProgramImpl* self, const tm::IDevice* device) {
  const PlacementScope placement(*self, *device, true);
  original<TTMEM_W_allocate_scratchpads, void>(self, device);
}

void deallocate_circular_buffers(ProgramImpl* self) {
  reporter().destroyed(*self);
  original<TTMEM_W_deallocate_circular_buffers, void>(self);
}

void program_destroyed(const ProgramImpl* program) {
  reporter().destroyed(*program);
  original<TTMEM_W_program_destroyed, void>(program);
}

void program_destructor(ProgramImpl* self) {
  reporter().destroyed(*self);
  original<TTMEM_W_program_destructor, void>(self);
}

void program_base_destructor(ProgramImpl* self) {
  reporter().destroyed(*self);
  original<TTMEM_W_program_base_destructor, void>(self);
}

// ---- Dispatches ----

// True while a wrapper of an enqueue function runs on this thread. The outermost wrapper records
// the workload; nested enqueue functions record nothing.
thread_local bool in_enqueue = false;

template <int number>
void enqueue(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking) {
  const bool is_inside = in_enqueue;
  {
    const Temporarily<bool> in(in_enqueue, true);
    original<number, void, MeshCommandQueue&, MeshWorkload&>(queue, workload, blocking);
  }
  if (!is_inside) reporter().enqueued(queue, workload);
}

void enqueue_mesh_workload(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking) {
  enqueue<TTMEM_W_enqueue_mesh_workload>(queue, workload, blocking);
}

// The wrapped function is a method of the queue. The compiler passes the object of a method like a
// first argument, so `queue` receives the object.
void fast_enqueue(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking) {
  enqueue<TTMEM_W_fast_enqueue>(queue, workload, blocking);
}

void slow_enqueue(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking) {
  enqueue<TTMEM_W_slow_enqueue>(queue, workload, blocking);
}

void launch_program(tm::IDevice* device, tm::Program& program, bool wait, bool slow) {
  original<TTMEM_W_launch_program, void, tm::IDevice*, tm::Program&>(device, program, wait, slow);
  reporter().launched(program, *device);
}

void replay_trace(void* mesh, std::uint8_t queue, const MeshTraceId& trace, bool blocking) {
  original<TTMEM_W_replay_trace, void, void*, std::uint8_t, const MeshTraceId&>(mesh, queue, trace,
                                                                                blocking);
  reporter().replayed(*trace);
}

void release_trace(void* mesh, const MeshTraceId& trace) {
  reporter().released(*trace);
  original<TTMEM_W_release_trace, void, void*, const MeshTraceId&>(mesh, trace);
}

void load_binaries(void* workload, MeshCommandQueue& queue) {
  const ThreadLabel label("kernel binaries");
  original<TTMEM_W_load_binaries, void, void*, MeshCommandQueue&>(workload, queue);
}

// ---- Chips ----

// The runtime passes a Device as `self`. IDevice is the first base class of Device, so a pointer to
// the Device is also a valid pointer to its IDevice.
bool device_initialize(tm::IDevice* self, std::uint8_t queues, std::size_t l1_small,
                       std::size_t trace_region, std::size_t worker_l1,
                       std::span<const std::uint32_t> l1_bank_remap, bool minimal) {
  const bool done = original<TTMEM_W_device_initialize, bool>(self, queues, l1_small, trace_region,
                                                              worker_l1, l1_bank_remap, minimal);
  if (done) reporter().initialized(*self);
  return done;
}

bool device_close(tm::IDevice* self) {
  const bool done = original<TTMEM_W_device_close, bool>(self);
  reporter().closed(*self);
  return done;
}

}  // namespace
}  // namespace ttmem::preload

// Tells the adapter which functions this TT-Metal has. Called once, before all other functions of
// the adapter.
extern "C" __attribute__((visibility("default"))) void ttmem_adapter_begin(
    const unsigned char has[TTMEM_W_COUNT]) {
  const auto any = [&](auto... numbers) { return (has[numbers] || ...); };
  const auto all = [&](auto... numbers) { return (has[numbers] && ...); };
  const bool buffers = any(TTMEM_W_buffer_allocate, TTMEM_W_track_allocate) &&
                       any(TTMEM_W_buffer_deallocate, TTMEM_W_track_deallocate);
  const bool programs = any(TTMEM_W_compile_and_allocate, TTMEM_W_allocate_circular_buffers) &&
                        any(TTMEM_W_deallocate_circular_buffers, TTMEM_W_program_destroyed,
                            TTMEM_W_program_destructor) &&
                        (ttmem::preload::kReadsPrograms || has[TTMEM_W_track_allocate_cb]);
  const bool dispatches =
      programs && all(TTMEM_W_launch_program, TTMEM_W_replay_trace) &&
      (has[TTMEM_W_enqueue_mesh_workload] || all(TTMEM_W_fast_enqueue, TTMEM_W_slow_enqueue));
  ttmem::preload::RuntimeReporter::instance().begin(
      {.buffers = buffers, .programs = programs, .dispatches = dispatches});
}

// Returns the wrapper of a function (TTMEM_W_...), or null if the function has no wrapper.
// `original` is the runtime's own function. Called at the first call of the function.
extern "C" __attribute__((visibility("default"))) void* ttmem_adapter_wrapper(unsigned number,
                                                                              void* original) {
  using namespace ttmem::preload;
#define TTMEM_WRAPPER(name, symbol) reinterpret_cast<void*>(&name),
  static void* const wrappers[] = {TTMEM_WITH_WRAPPER(TTMEM_WRAPPER)};
  if (number >= std::size(wrappers)) {
    if (!kReadsPrograms) reporter().cannot_read_programs();
    return nullptr;
  }
  if (number == TTMEM_W_track_allocate_cb && kReadsPrograms) return nullptr;
  originals[number] = original;
  return wrappers[number];
}

// Called before an out-of-memory exception is thrown on this thread. Records the placement in which
// the failure happened, so that the saved state contains the program.
extern "C" __attribute__((visibility("default"))) void ttmem_adapter_failing() {
  ttmem::preload::PlacementScope::record_running();
}
