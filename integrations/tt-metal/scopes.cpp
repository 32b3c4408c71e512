// SPDX-License-Identifier: Apache-2.0
// Implements the functions that host code calls to track its threads, and to report facts that the
// hooks leave out.
#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "processor.hpp"
#include "ttmem_tt_metal.hpp"

namespace ttmem::tt_metal {
namespace {

// Returns true if the preloaded adapter is attached. The adapter reports everything that the hooks
// report, and more, so the hooks must not report again.
bool is_adapter_attached() {
  using Attached = int (*)();
  const auto attached = reinterpret_cast<Attached>(dlsym(RTLD_DEFAULT, "ttmem_preload_attached"));
  return attached != nullptr && attached() != 0;
}

}  // namespace

void attach() {
  if (is_adapter_attached()) return;
  auto& tracker = tm::GraphTracker::instance();
  const auto& processors = tracker.get_processors();
  const auto& processor = Processor::instance();
  if (std::find(processors.begin(), processors.end(), processor) != processors.end()) return;
  tracker.push_processor(processor);
}

void attach_workers(tm::distributed::MeshDevice& mesh) {
  // A submesh has no workers of its own, but uses the workers of the mesh that opened the chips.
  // The workers take tasks in round-robin order, so with one task for each worker, every worker
  // gets a task.
  std::size_t workers = mesh.num_devices();
  for (auto parent = mesh.get_parent_mesh(); parent; parent = parent->get_parent_mesh()) {
    workers = std::max(workers, parent->num_devices());
  }
  mesh.wait_for_thread_pool();
  for (std::size_t worker = 0; worker < workers; ++worker) {
    mesh.enqueue_to_thread_pool([] { attach(); });
  }
  mesh.wait_for_thread_pool();
}

// The dry run calls this before it throws an out-of-memory error.
extern "C" void ttmem_tt_metal_flush();
void ttmem_tt_metal_flush() { flush(); }

void flush() { Processor::instance()->track_function_end(); }

void device_opened(const tm::IDevice& chip, const DeviceFacts& facts) {
  Processor::instance()->open_device(chip, facts);
}

void device_closed(int chip) {
  Processor::instance()->close_device(static_cast<std::uint32_t>(chip));
}

Label::Label(std::string name)
    : name_(std::move(name)),
      outer_(std::exchange(Processor::label_of_this_thread(), name_.c_str())) {}

Label::~Label() { Processor::label_of_this_thread() = outer_; }

ProgramScope::ProgramScope(const tm::Program& program, tm::IDevice* device,
                           tm::CoreRangeSet kernel_cores, std::optional<KernelBytes> kernels)
    : program_(program),
      device_(device),
      kernel_cores_(std::move(kernel_cores)),
      kernels_(kernels),
      exceptions_(std::uncaught_exceptions()) {
  Processor::instance()->begin_scope(program);
}

ProgramScope::~ProgramScope() {
  Processor::instance()->end_scope();
  if (device_ == nullptr || std::uncaught_exceptions() != exceptions_) return;
  Processor::instance()->dispatched(program_, *device_, kernel_cores_, kernels_);
}

void trace_replayed(tm::IDevice* device, const std::vector<const tm::Program*>& programs) {
  Processor::instance()->replayed(programs, *device);
}

void forget_program(const tm::Program& program) { Processor::instance()->forget(program); }

}  // namespace ttmem::tt_metal
