// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <pthread.h>

#include <algorithm>
#include <tt-metalium/mesh_device.hpp>

#include "describe.hpp"
#include "impl/buffers/circular_buffer.hpp"
#include "impl/context/metal_context.hpp"
#include "impl/program/program_impl.hpp"
#include "llrt/tt_cluster.hpp"

namespace ttmem::adapter {

using tm::distributed::MeshCommandQueue;
using tm::distributed::MeshCoordinateRange;
using tm::distributed::MeshDevice;
using tm::distributed::MeshWorkload;
using tt_metal::number_of;

namespace {

thread_local const char* label_of_this_thread = nullptr;

// What goes wrong in here (no memory, a runtime that answers otherwise than expected) must not
// reach the program. It is then missing, and the tracker counts it as it would any other.
template <typename Action>
void quietly(Action action) noexcept {
  if (!ttmem_enabled()) return;
  try {
    action();
  } catch (...) {  // NOLINT(bugprone-empty-catch): see above
  }
}

// A circular buffer is a view when its bytes are those of an L1 buffer.
bool is_view(const tm::CircularBufferImpl& cb) { return cb.globally_allocated(); }

bool covers(const MeshCoordinateRange& range, const MeshDevice& mesh) {
  return range == MeshCoordinateRange(mesh.shape());
}

}  // namespace

Label::Label(const char* name) : outer_(label_of_this_thread) { label_of_this_thread = name; }
Label::~Label() { label_of_this_thread = outer_; }

Recorder& Recorder::instance() {
  static Recorder& recorder = *new Recorder;
  return recorder;
}

Recorder::Recorder() {
  pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                 forget_in_child);
}

// The tracker begins with nothing in a child, and so do we.
void Recorder::forget_in_child() {
  Recorder& recorder = instance();
  recorder.mutex_.unlock();
  recorder.chips_.clear();
  recorder.buffers_.clear();
  recorder.programs_.clear();
  recorder.traces_.clear();
}

// ---- Chips ----

void Recorder::open(const tm::IDevice& chip) {
  const std::uint32_t number = number_of(chip);
  if (!chips_.try_emplace(number, number).second) return;
  ttmem_device_info info = tt_metal::device_info(chip);
  const auto& uids = tm::MetalContext::instance().get_cluster().get_unique_chip_ids();
  if (const auto uid = uids.find(chip.id()); uid != uids.end()) info.uid = uid->second;
  ttmem_device_open(&info);
  ttmem_reports(number, TTMEM_REPORTS_BUFFERS | TTMEM_REPORTS_PROGRAMS | TTMEM_REPORTS_KERNELS |
                            TTMEM_REPORTS_DISPATCHES);
}

void Recorder::opened(const tm::IDevice& chip) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    open(chip);
  });
}

void Recorder::closed(const tm::IDevice& chip) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    const std::uint32_t number = number_of(chip);
    if (chips_.erase(number) == 0) return;
    ttmem_device_close(number);
    for (auto& [impl, program] : programs_) std::erase(program.chips, number);
    for (auto& [trace, programs] : traces_) programs.erase(number);
  });
}

const Recorder::Chips& Recorder::chips_of(const tm::IDevice& device) {
  const auto [known, fresh] = lists_.try_emplace({&device, device.id()});
  if (fresh) {
    for (const tm::IDevice* chip : tt_metal::chips_of(&device)) {
      known->second.push_back(number_of(*chip));
    }
    std::sort(known->second.begin(), known->second.end());
  }
  for (const std::uint32_t chip : known->second) {
    if (chips_.contains(chip)) continue;
    for (const tm::IDevice* each : tt_metal::chips_of(&device)) open(*each);
    break;
  }
  return known->second;
}

// ---- Buffers ----

void Recorder::allocated(const tm::Buffer& buffer) noexcept {
  quietly([&] {
    if (buffer.address() == 0) return;
    const auto cores = tt_metal::cores_of(buffer);
    const ttmem_buffer record = tt_metal::describe(buffer, cores, label_of_this_thread);
    const std::lock_guard lock(mutex_);
    const Chips& chips = chips_of(*buffer.device());
    if (!buffers_.try_emplace(record.id, Buffer{record.type, &chips}).second) return;
    for (const std::uint32_t chip : chips) ttmem_buffer_alloc(chip, &record);
  });
}

void Recorder::freed(const tm::Buffer& buffer) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find(tt_metal::tracker_id(buffer));
    if (found == buffers_.end()) return;
    for (const std::uint32_t chip : *found->second.chips) {
      if (chips_.contains(chip)) ttmem_buffer_free(chip, found->second.type, found->first);
    }
    buffers_.erase(found);
  });
}

// ---- Programs ----

// True if its circular buffers are not those of the last time.
bool Recorder::update(Program& program, const tm::detail::ProgramImpl& impl) {
  const auto& now = impl.circular_buffers();
  const bool same =
      std::equal(now.begin(), now.end(), program.cbs.begin(), program.cbs.end(),
                 [](const auto& cb, const Cb& known) {
                   return cb->address() == known.address && cb->size() == known.bytes &&
                          is_view(*cb) == known.is_view && cb->core_ranges() == known.cores;
                 });
  if (same) return false;
  program.cbs.clear();
  for (const auto& cb : now) {
    program.cbs.push_back({cb->core_ranges(), cb->address(), cb->size(), is_view(*cb)});
  }
  return true;
}

void Recorder::place(const Program& program, const Chips& chips) {
  std::vector<std::vector<ttmem_core_range>> cores;
  cores.reserve(program.cbs.size());
  std::vector<ttmem_cb> records;
  records.reserve(program.cbs.size());
  for (const Cb& cb : program.cbs) {
    cores.push_back(tt_metal::ranges_of(cb.cores));
    records.push_back({cb.address, cb.bytes, cores.back().data(),
                       static_cast<std::uint32_t>(cores.back().size()),
                       cb.is_view ? TTMEM_CB_GLOBAL : 0U});
  }
  for (const std::uint32_t chip : chips) {
    ttmem_program_place(chip, program.id, records.data(),
                        static_cast<std::uint32_t>(records.size()));
  }
}

void Recorder::placed(tm::detail::ProgramImpl& impl, const tm::IDevice& device) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    const auto [known, fresh] = programs_.try_emplace(&impl);
    Program& program = known->second;
    if (fresh) program.id = next_program_++;
    const Chips& chips = chips_of(device);
    Chips added;
    std::set_difference(chips.begin(), chips.end(), program.chips.begin(), program.chips.end(),
                        std::back_inserter(added));
    program.chips.insert(program.chips.end(), added.begin(), added.end());
    std::sort(program.chips.begin(), program.chips.end());
    // A new layout is that of the program wherever it is.
    if (update(program, impl)) {
      place(program, program.chips);
    } else if (!added.empty()) {
      place(program, added);
    }
  });
}

void Recorder::destroyed(const tm::detail::ProgramImpl& impl) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(&impl);
    if (found == programs_.end()) return;
    const std::uint64_t id = found->second.id;
    for (auto& [number, kernels] : chips_) kernels.unload(id);
    for (auto& [trace, by_chip] : traces_) {
      for (auto& [chip, programs] : by_chip) std::erase(programs, id);
    }
    ttmem_program_destroy(id);
    programs_.erase(found);
  });
}

// ---- What runs ----

void Recorder::dispatch(tm::detail::ProgramImpl& impl, tm::IDevice& device, const Chips& chips) {
  const auto found = programs_.find(&impl);
  if (found == programs_.end()) return;
  Program& program = found->second;
  if (!program.kernels) {
    program.kernels = std::make_shared<const KernelSizes>(kernel_sizes(impl, device));
  }
  for (const std::uint32_t chip : chips) {
    ttmem_program_dispatch(chip, program.id);
    if (const auto open = chips_.find(chip); open != chips_.end()) {
      open->second.load(program.id, program.kernels);
    }
  }
}

void Recorder::enqueued(MeshCommandQueue& queue, MeshWorkload& workload) noexcept {
  quietly([&] {
    MeshDevice& mesh = *queue.device();
    const auto trace = queue.trace_id();
    const std::lock_guard lock(mutex_);
    for (auto& [range, program] : workload.get_programs()) {
      Chips some;
      if (!covers(range, mesh)) {
        for (const tm::IDevice* chip : mesh.get_view().get_devices(range)) {
          some.push_back(number_of(*chip));
        }
      }
      const Chips& chips = some.empty() ? chips_of(mesh) : some;
      if (!trace) {
        dispatch(program.impl(), mesh, chips);
        continue;
      }
      const auto found = programs_.find(&program.impl());
      if (found == programs_.end()) continue;
      for (const std::uint32_t chip : chips) {
        traces_[**trace][chip].push_back(found->second.id);
      }
    }
  });
}

void Recorder::launched(tm::Program& program, tm::IDevice& device) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    dispatch(program.impl(), device, chips_of(device));
  });
}

void Recorder::replayed(std::uint32_t trace) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    const auto found = traces_.find(trace);
    if (found == traces_.end()) return;
    for (const auto& [chip, programs] : found->second) {
      ttmem_trace_replay(chip, programs.data(), static_cast<std::uint32_t>(programs.size()));
    }
  });
}

void Recorder::released(std::uint32_t trace) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    traces_.erase(trace);
  });
}

}  // namespace ttmem::adapter
