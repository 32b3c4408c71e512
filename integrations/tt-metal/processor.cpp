// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "describe.hpp"
#include "quietly.hpp"

namespace ttmem::tt_metal {
namespace {

void announce(const tm::IDevice& chip) {
  const ttmem_device_info info = device_info(chip);
  ttmem_device_open(&info);
  // The hooks report every buffer and every CB, so these kinds are known from the start. Kernels
  // and dispatches stay unknown until the first report of them.
  ttmem_set_reported(info.id, TTMEM_REPORTS_BUFFERS | TTMEM_REPORTS_PROGRAMS);
}

// Returns true in a dry capture, in which the program does not run. Returns false for older
// versions of TT-Metal, which lack hook_program().
template <typename Tracker>
bool is_dry(Tracker& tracker, tm::Program* program) {
  if constexpr (requires { tracker.hook_program(program); }) {
    return tracker.hook_program(program);
  } else {
    return false;
  }
}

// Returns the mesh that opened the chips of a mesh. Returns null if the device is a single chip.
std::shared_ptr<const tm::distributed::MeshDevice> root_of(const tm::IDevice& device) {
  const auto* mesh = dynamic_cast<const tm::distributed::MeshDevice*>(&device);
  if (mesh == nullptr) return nullptr;
  while (mesh->get_parent_mesh()) mesh = mesh->get_parent_mesh().get();
  return mesh->weak_from_this().lock();
}

}  // namespace

// ---- Threads ----

namespace {
thread_local bool thread_has_ended = false;
}  // namespace

// Ends the lists and frees of a thread when the thread ends. Destructors that run later on this
// thread may still call hooks.
class Processor::ThreadEnd {
 public:
  Thread* thread = nullptr;

  ThreadEnd() = default;
  ~ThreadEnd() {
    thread_has_ended = true;
    if (thread != nullptr) Processor::instance()->end_thread(*thread);
  }
  ThreadEnd(const ThreadEnd&) = delete;
  ThreadEnd& operator=(const ThreadEnd&) = delete;
};

Processor::Thread& Processor::this_thread() {
  thread_local Thread* current = nullptr;
  if (current == nullptr || (thread_has_ended && !threads_.contains(current))) {
    auto fresh = std::make_unique<Thread>();
    threads_.insert(fresh.get());
    current = fresh.release();
    if (!thread_has_ended) {
      thread_local ThreadEnd end;
      end.thread = current;
    }
  }
  ++current->events;
  return *current;
}

void Processor::end_thread(Thread& thread) {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    if (threads_.erase(&thread) == 0) return;
    const std::unique_ptr<Thread> owned(&thread);
    end_rows(thread);
  });
}

const std::shared_ptr<Processor>& Processor::instance() {
  static const auto& processor = *new std::shared_ptr<Processor>(std::make_shared<Processor>());
  return processor;
}

const char*& Processor::label_of_this_thread() {
  thread_local const char* label = nullptr;
  return label;
}

Processor::Processor() : chips_(announce), later_(mutex_, step) {
  pthread_atfork([] { instance()->mutex_.lock(); }, [] { instance()->mutex_.unlock(); },
                 forget_in_child);
  std::atexit([] {
    quietly([] {
      const std::lock_guard lock(instance()->mutex_);
      instance()->end_all_rows();
    });
  });
}

// Clears the state in a child process, in which the tracker is empty too. No thread but this one
// exists in the child.
void Processor::forget_in_child() {
  Processor& processor = *instance();
  processor.mutex_.unlock();
  processor.chips_.forget();
  processor.buffers_.forget();
  processor.programs_.forget_all();
  processor.later_.forget();
  processor.roots_.clear();
  for (Thread* thread : processor.threads_) *thread = {};
}

// Ends the lists and frees of each thread that had no event since the last step. Returns false if
// no list or free is left.
bool Processor::step() {
  Processor& processor = *instance();
  bool is_left = false;
  quietly([&] {
    for (Thread* thread : processor.threads_) {
      if (thread->list.empty() && thread->frees.empty()) continue;
      if (std::exchange(thread->events_seen, thread->events) == thread->events) {
        processor.end_rows(*thread);
      } else {
        is_left = true;
      }
    }
  });
  return is_left;
}

void Processor::end_list(Thread& thread) {
  if (thread.list.empty()) return;
  const CbList list = std::exchange(thread.list, {});
  programs_.listed(list, thread.current);
}

void Processor::end_rows(Thread& thread) {
  end_list(thread);
  if (!thread.frees.empty()) programs_.end(thread.frees);
  thread.announced = 0;
  programs_.remove_destroyed_silent();
}

void Processor::end_all_rows() {
  for (Thread* thread : threads_) end_rows(*thread);
}

// ---- Chips ----

// Returns the chips of a device. No hook reports that a chip was closed. So if the device or the
// set of open chips has changed since the last call, also closes the chips whose mesh no longer
// exists.
const OpenMesh& Processor::mesh_of(const tm::IDevice& device, Held& held) {
  const OpenMesh* mesh = &chips_.mesh_of(device);
  if (last_root_.mesh == mesh && last_root_.generation == chips_.generation()) return *mesh;
  close_orphaned_chips(held);
  mesh = &chips_.mesh_of(device);
  last_root_ = {mesh, chips_.generation()};
  held.push_back(root_of(device));
  const auto& root = held.back();
  if (root == nullptr) return *mesh;
  const auto known = std::find_if(roots_.begin(), roots_.end(), [&](const Root& each) {
    return !each.mesh.owner_before(root) && !root.owner_before(each.mesh);
  });
  Root& entry = known != roots_.end() ? *known : roots_.emplace_back();
  entry.mesh = std::const_pointer_cast<MeshDevice>(root);
  for (const std::uint32_t chip : mesh->chips) {
    if (std::find(entry.chips.begin(), entry.chips.end(), chip) == entry.chips.end()) {
      entry.chips.push_back(chip);
    }
  }
  return *mesh;
}

void Processor::close_orphaned_chips(Held& held) {
  ChipNumbers gone;
  std::erase_if(roots_, [&](const Root& root) {
    held.push_back(root.mesh.lock());
    if (held.back() != nullptr && held.back()->is_initialized()) return false;
    gone.insert(gone.end(), root.chips.begin(), root.chips.end());
    return true;
  });
  for (const std::uint32_t chip : gone) close(chip);
}

void Processor::close(std::uint32_t chip) {
  end_all_rows();
  if (chips_.close(chip)) programs_.closed(chip);
}

void Processor::open_device(const tm::IDevice& chip, const DeviceFacts& facts) {
  if (!ttmem_enabled()) return;
  const std::lock_guard lock(mutex_);
  chips_.open(chip);
  ttmem_device_info more{};  // the tracker ignores unset fields
  more.struct_size = sizeof(more);
  more.id = number_of(chip);
  more.uid = facts.uid;
  more.board = facts.board;
  ttmem_device_open(&more);
  for (const std::uint64_t bytes : facts.dispatch_kernels) {
    ttmem_kernel_load(more.id, programs_.number(), bytes, TTMEM_KERNEL_DISPATCH);
  }
}

void Processor::close_device(std::uint32_t chip) {
  const std::lock_guard lock(mutex_);
  for (Root& root : roots_) std::erase(root.chips, chip);
  close(chip);
}

// ---- Buffers ----

void Processor::track_allocate(const tm::Buffer* buffer) {
  if (!ttmem_enabled()) return;
  quietly([&] {
    if (buffer->address() == 0) return;  // a dry capture: nothing was allocated
    const auto cores = cores_of(*buffer);
    const ttmem_buffer record = describe(*buffer, cores, label_of_this_thread());
    Held held;
    const std::lock_guard lock(mutex_);
    end_rows(this_thread());
    const OpenMesh& mesh = mesh_of(*buffer->device(), held);
    if (buffer->is_l1()) programs_.may_have_views(mesh.chips);
    buffers_.allocated(*buffer, record);
  });
}

void Processor::track_deallocate(tm::Buffer* buffer) {
  if (!ttmem_enabled()) return;
  quietly([&] {
    const std::lock_guard lock(mutex_);
    end_rows(this_thread());
    // Unknown buffers are ignored: they were allocated on a thread without attach().
    buffers_.freed(tracker_id(*buffer));
  });
}

// ---- Programs ----

void Processor::track_allocate_cb(const tm::CoreRangeSet& cores, std::uint64_t address,
                                  std::uint64_t size, bool is_globally_allocated,
                                  const tm::IDevice* device) {
  if (!ttmem_enabled() || address == 0) return;
  quietly([&] {
    const auto* const mesh = dynamic_cast<const MeshDevice*>(device);
    const std::lock_guard lock(mutex_);
    Thread& thread = this_thread();
    if (mesh == nullptr) {
      add_cb(thread, cores, address, size, is_globally_allocated, *device);
    } else {
      for (const tm::IDevice* chip : mesh->get_devices()) {
        add_cb(thread, cores, address, size, is_globally_allocated, *chip);
      }
    }
    const std::size_t length = thread.chips == 0 ? 0 : programs_.length_of(thread.current);
    if (length != 0 && thread.list.cbs().size() == length && thread.list.is_even() &&
        thread.list.chip_count() == thread.chips) {
      end_list(thread);
    } else {
      later_.begin();
    }
  });
}

void Processor::add_cb(Thread& thread, const tm::CoreRangeSet& cores, std::uint64_t address,
                       std::uint64_t size, bool is_view, const tm::IDevice& chip) {
  if (thread.list.repeat(cores, address, size, is_view, number_of(chip))) return;
  if (!thread.frees.empty()) programs_.end(thread.frees);
  thread.announced = 0;
  chips_.open(chip);
  const ProgramCb cb{CoreRanges(cores), address, size, is_view};
  const std::size_t length = programs_.length_of(thread.current);
  if (thread.list.add(cb, number_of(chip), length)) return;
  end_list(thread);
  static_cast<void>(thread.list.add(cb, number_of(chip), length));
}

void Processor::track_deallocate_cb(const tm::IDevice* device) {
  if (!ttmem_enabled()) return;
  quietly([&] {
    const std::lock_guard lock(mutex_);
    Thread& thread = this_thread();
    end_list(thread);
    thread.announced = 0;
    programs_.freed(thread.frees, number_of(*device));
    if (!thread.frees.empty()) later_.begin();
  });
}

void Processor::track_program(tm::Program* program, const tm::IDevice* device) {
  if (!ttmem_enabled() || is_dry(tm::GraphTracker::instance(), program)) return;
  quietly([&] {
    Held held;
    const std::lock_guard lock(mutex_);
    Thread& thread = this_thread();
    const std::uint64_t before = thread.announced;
    end_rows(thread);
    const OpenMesh& mesh = mesh_of(*device, held);
    const std::uint64_t id = programs_.name(*program);
    // The program is compiled in its first run, which follows this call. So the binaries are known
    // from the second call on.
    const int known = programs_.kernels_known(id);
    if (known < 2) {
      KernelBytes bytes = collect_kernel_bytes(*program, *device, known != 0);
      bytes.estimate = true;  // the hooks do not report the cores of the kernels
      // If `cores` is empty, the kernels are assumed to be on the cores of the circular buffers. A
      // program without circular buffers is assumed to use all cores.
      const bool has_cbs = !program->circular_buffers().empty();
      programs_.kernels_of(id, bytes, has_cbs ? tm::CoreRangeSet() : all_cores(*device));
    }
    // If two programs are announced without another hook between them, both belong to one workload.
    // The workload sends them to different chips of the mesh, but the hooks do not report to which
    // chips.
    const bool of_several = before != 0 && before != id;
    programs_.announced(id, mesh, of_several);
    thread.current = id;
    thread.in_scope = false;
    thread.chips = mesh.chips.size();
    thread.announced = id;
  });
}

void Processor::track_function_end() {
  if (!ttmem_enabled()) return;
  quietly([&] {
    const std::lock_guard lock(mutex_);
    Thread& thread = this_thread();
    end_rows(thread);
    if (!thread.in_scope) thread.current = 0;
  });
}

void Processor::track_function_end(const std::any&) { track_function_end(); }

// ---- Calls of host code ----

void Processor::begin_scope(const tm::Program& program) {
  if (!ttmem_enabled()) return;
  const std::lock_guard lock(mutex_);
  Thread& thread = this_thread();
  end_rows(thread);
  thread.current = programs_.name(program);
  thread.in_scope = true;
  thread.chips = 0;
}

void Processor::end_scope() {
  if (!ttmem_enabled()) return;
  const std::lock_guard lock(mutex_);
  Thread& thread = this_thread();
  end_rows(thread);
  thread.in_scope = false;
  thread.current = 0;
}

void Processor::dispatched(const tm::Program& program, const tm::IDevice& device,
                           const tm::CoreRangeSet& kernel_cores,
                           const std::optional<KernelBytes>& kernels) {
  if (!ttmem_enabled()) return;
  Held held;
  const std::lock_guard lock(mutex_);
  const OpenMesh& mesh = mesh_of(device, held);
  const std::uint64_t id = programs_.name(program);
  if (programs_.kernels_known(id) == 0) {
    programs_.kernels_of(id, kernels ? *kernels : collect_kernel_bytes(program, device, true),
                         kernel_cores);
  }
  programs_.dispatched(id, mesh);
}

void Processor::replayed(const std::vector<const tm::Program*>& programs,
                         const tm::IDevice& device) {
  if (!ttmem_enabled()) return;
  Held held;
  const std::lock_guard lock(mutex_);
  end_rows(this_thread());
  programs_.replayed(programs, mesh_of(device, held).chips);
}

void Processor::forget(const tm::Program& program) {
  if (!ttmem_enabled()) return;
  const std::lock_guard lock(mutex_);
  end_rows(this_thread());
  programs_.forget(program);
}

}  // namespace ttmem::tt_metal
