// SPDX-License-Identifier: Apache-2.0
//
// What host code reports itself: which threads are tracked, and what the hooks leave out.
#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "describe.hpp"
#include "ttmem_tt_metal.hpp"

namespace ttmem::tt_metal {
namespace {

std::vector<std::uint32_t> numbers_of(const tm::IDevice* device) {
  std::vector<std::uint32_t> numbers;
  for (const tm::IDevice* chip : chips_of(device)) numbers.push_back(number_of(*chip));
  return numbers;
}

// Without binaries if the runtime throws: an observer must not stop its host.
KernelBytes collect_kernel_bytes(const tm::Program& program, tm::IDevice* device) {
  tm::IDevice* const chip = chips_of(device).front();
  try {
    return kernel_bytes(tm::detail::collect_kernel_meta(program, chip));
  } catch (const std::exception&) {
    return kernel_bytes(tm::detail::collect_kernel_meta(program, nullptr));
  }
}

// The preloaded adapter reports everything that the hooks would, and more.
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
  // A submesh has the workers of the mesh that opened the chips. Tasks go to the workers in turn.
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
  Processor::instance()->begin_scope(&program.impl());
}

ProgramScope::~ProgramScope() {
  Processor::instance()->end_scope();
  if (device_ == nullptr || std::uncaught_exceptions() != exceptions_) return;
  Processor::instance()->dispatched(&program_.impl(), numbers_of(device_), kernel_cores_, [&] {
    return kernels_ ? *kernels_ : collect_kernel_bytes(program_, device_);
  });
}

void trace_replayed(tm::IDevice* device, const std::vector<const tm::Program*>& programs) {
  std::vector<const void*> identities;
  identities.reserve(programs.size());
  for (const tm::Program* program : programs) identities.push_back(&program->impl());
  Processor::instance()->replayed(identities, numbers_of(device));
}

void forget_program(const tm::Program& program) { Processor::instance()->forget(&program.impl()); }

}  // namespace ttmem::tt_metal
