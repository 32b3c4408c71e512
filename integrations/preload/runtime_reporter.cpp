// SPDX-License-Identifier: Apache-2.0
#include "runtime_reporter.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <tt-metalium/mesh_device.hpp>
#include <utility>

#include "describe.hpp"
#include "labels.hpp"
#include "quietly.hpp"
#include "runtime_objects.hpp"

namespace ttmem::preload {

using tm::distributed::MeshCommandQueue;
using tm::distributed::MeshCoordinateRange;
using tm::distributed::MeshDevice;
using tm::distributed::MeshWorkload;
using tt_metal::ChipNumbers;
using tt_metal::number_of;
using tt_metal::quietly;

namespace {

// The warning for a TT-Metal in which the compiler has inlined the functions that place programs.
// They are not inlined in published builds.
constexpr const char* kInlined =
    "programs are not seen: this TT-Metal inlines the functions that place them; use a published "
    "build";

bool covers(const MeshCoordinateRange& range, const MeshDevice& mesh) {
  return range == MeshCoordinateRange(mesh.shape());
}

void announce(const tm::IDevice& chip) {
  ttmem_device_info info = tt_metal::device_info(chip);
  info.uid = unique_id(chip);
  ttmem_device_open(&info);
}

}  // namespace

RuntimeReporter& RuntimeReporter::instance() {
  static RuntimeReporter& reporter = *new RuntimeReporter;
  return reporter;
}

RuntimeReporter::RuntimeReporter() : chips_(announce) {
  pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                 forget_in_child);
}

// Adapts the state to a child process, in which the tracker has no devices, buffers and programs.
void RuntimeReporter::forget_in_child() {
  RuntimeReporter& reporter = instance();
  reporter.mutex_.unlock();
  reporter.last_ = {};
  reporter.chips_.forget();
  reporter.buffers_.forget();
  // The parent's programs are still placed in the child, but the child has not reported them on any
  // chip.
  for (auto& [impl, program] : reporter.programs_) program.chips.clear();
  reporter.traces_.clear();
}

// ---- Chips ----

void RuntimeReporter::begin(const Heard& heard) {
  heard_ = heard;
  if (heard.buffers && heard.dispatches) return;
  const char* const what = !heard.buffers    ? "buffers are"
                           : !heard.programs ? "programs and circular buffers are"
                                             : "resident circular buffers are";
  warn(what + std::string(" not seen: this TT-Metal lacks functions that report them; try a newer "
                          "ttmem"));
}

// Prints a warning on stderr and adds it to the warnings that ttmem shows. `unknown_again` are the
// kinds that become unknown (see ttmem_set_unseen).
void RuntimeReporter::warn(const std::string& what, std::uint32_t unknown_again) {
  warnings_.push_back(what);
  std::fprintf(stderr, "ttmem: %s\n", what.c_str());
  ttmem_set_unseen(unknown_again, what.c_str());
}

// Repeats the warnings. A forked child gets a new segment when it opens its first chip, and the new
// segment has no warnings yet.
void RuntimeReporter::repeat_warnings() {
  for (const std::string& what : warnings_) ttmem_set_unseen(0, what.c_str());
}

// Records a chip from its initialization on. A chip that was open before, or whose initialization
// was not intercepted, is recorded from its first event on.
void RuntimeReporter::initialized(const tm::IDevice& chip) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    last_ = {};
    initialized_ = true;
    listen_to_operations();
    chips_.open(chip);
    repeat_warnings();
    ttmem_set_reported(
        number_of(chip),
        (heard_.buffers ? TTMEM_REPORTS_BUFFERS : 0U) |
            (heard_.programs ? TTMEM_REPORTS_PROGRAMS : 0U) |
            (heard_.dispatches ? TTMEM_REPORTS_KERNELS | TTMEM_REPORTS_DISPATCHES : 0U));
  });
}

// If no initialization of a chip was intercepted, warns, and records nothing from then on. This
// happens in a runtime that calls its own functions directly (-Bsymbolic), because these calls
// cannot be intercepted.
void RuntimeReporter::check_interception() {
  if (initialized_ || !heard_.dispatches) return;
  heard_ = {.buffers = false, .programs = false, .dispatches = false};
  warn(
      "its memory is not seen: this TT-Metal calls its own functions directly (-Bsymbolic); use a "
      "published build");
}

// Declares that programs, kernels and dispatches are unknown from now on. `why` is the warning.
void RuntimeReporter::mark_programs_unseen(const char* why) {
  if (!heard_.programs) return;
  heard_.programs = heard_.dispatches = false;
  warn(why, TTMEM_REPORTS_PROGRAMS | TTMEM_REPORTS_KERNELS | TTMEM_REPORTS_DISPATCHES);
}

void RuntimeReporter::cannot_read_programs() noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    mark_programs_unseen(
        "programs are not seen: Metal 2.0 needs TT-Metal's internal headers (TT_METAL_HOME)");
  });
}

void RuntimeReporter::closed(const tm::IDevice& chip) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    last_ = {};
    const std::uint32_t number = number_of(chip);
    if (!chips_.close(number)) return;
    for (auto& [impl, program] : programs_) std::erase(program.chips, number);
    for (auto& [trace, programs] : traces_) programs.erase(number);
  });
}

// ---- Buffers ----

void RuntimeReporter::allocated(const tm::Buffer& buffer) noexcept {
  quietly([&] {
    const auto cores = tt_metal::cores_of(buffer);
    const ttmem_buffer record = tt_metal::describe(buffer, cores, current_label());
    if (record.address == 0) return;
    const std::lock_guard lock(mutex_);
    if (!heard_.buffers) return;
    const InOperation operation;
    buffers_.allocated(buffer, record);
  });
}

void RuntimeReporter::freed(const tm::Buffer& buffer) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    buffers_.freed(tt_metal::tracker_id(buffer));
  });
}

// ---- Programs ----

void RuntimeReporter::placed(tm::detail::ProgramImpl& impl, const tm::IDevice& device,
                             bool is_compiled, bool is_laid_out) noexcept {
  if (!is_laid_out && layouts_intercepted_.load(std::memory_order_relaxed)) return;
  quietly([&] {
    const std::lock_guard lock(mutex_);
    if (!heard_.programs) return;
    if (is_compiled && is_laid_out) layouts_intercepted_.store(true, std::memory_order_relaxed);
    place(impl, device);
  });
}

RuntimeReporter::Program& RuntimeReporter::place(tm::detail::ProgramImpl& impl,
                                                 const tm::IDevice& device) {
  last_ = {};
  const auto [known, fresh] = programs_.try_emplace(&impl);
  Program& program = known->second;
  if (fresh) {
    filter_.add(&impl);
    program.id = next_program_++;
  }
  const ChipNumbers& chips = chips_.mesh_of(device).chips;
  const InOperation operation;
  program.placed(chips, read_layout(impl, program.cbs));
  return program;
}

// Returns the program on the device, or null if the placement of the program was not intercepted.
RuntimeReporter::Program* RuntimeReporter::find(tm::detail::ProgramImpl& impl,
                                                const tm::IDevice& device) {
  const auto found = programs_.find(&impl);
  if (found != programs_.end() && !found->second.chips.empty()) return &found->second;
  if (!layouts_intercepted_.load(std::memory_order_relaxed)) return nullptr;
  // The parent process recorded the placement before the fork. This process has not recorded it
  // yet.
  begin_layout();
  return &place(impl, device);
}

void RuntimeReporter::destroyed(const tm::detail::ProgramImpl& impl) noexcept {
  if (!filter_.may_have(&impl)) return;
  quietly([&] {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(&impl);
    if (found == programs_.end()) return;
    last_ = {};
    const std::uint64_t id = found->second.id;
    for (auto& [trace, by_chip] : traces_) {
      for (auto& [chip, programs] : by_chip) std::erase(programs, id);
    }
    if (!found->second.chips.empty()) found->second.destroyed(chips_);
    programs_.erase(found);
    filter_.remove(&impl);
  });
}

// ---- Dispatches ----

void RuntimeReporter::dispatch(tm::Program& program, tm::IDevice& device, const Mesh& mesh) {
  if (!heard_.dispatches) return;
  Program* const known = find(program.impl(), device);
  if (known == nullptr) return mark_programs_unseen(kInlined);
  if (!known->kernels) {
    if (!is_complete(program, known->cbs)) return mark_programs_unseen(kInlined);
    if (add_views(program, known->cbs)) known->placed(known->chips, true);
    known->kernels =
        std::make_shared<const tt_metal::KernelSizes>(kernel_sizes(program, device, known->cbs));
  }
  known->dispatched(mesh);
}

void RuntimeReporter::enqueued(MeshCommandQueue& queue, MeshWorkload& workload) noexcept {
  quietly([&] {
    MeshDevice& device = *queue.device();
    const auto trace = queue.trace_id();
    const std::lock_guard lock(mutex_);
    if (!trace && is_repeated(workload, device)) return;
    const Mesh& all = chips_.mesh_of(device);
    check_interception();
    for (auto& [range, program] : workload.get_programs()) {
      Mesh some;
      if (!covers(range, device)) some = submesh_of(all, device.get_view().get_devices(range));
      const Mesh& mesh = some.chips.empty() ? all : some;
      if (!trace) {
        dispatch(program, device, mesh);
        last_.program = &program.impl();
        last_.device = &device;
        last_.range = range;
        continue;
      }
      const Program* const known = find(program.impl(), device);
      if (known == nullptr) continue;
      for (const std::uint32_t chip : mesh.chips) {
        traces_[**trace][chip].push_back(known->id);
      }
    }
  });
}

// Returns true if the workload is the single program that was enqueued last. Nothing needs to be
// recorded then. This is frequent, because a model often repeats one program.
bool RuntimeReporter::is_repeated(MeshWorkload& workload, const tm::IDevice& device) const {
  auto& programs = workload.get_programs();
  if (programs.size() != 1 || last_.device != &device) return false;
  auto& [range, program] = *programs.begin();
  return last_.program == &program.impl() && last_.range == range;
}

// Returns the part of the mesh that consists of `devices`, for a program that does not run on the
// whole mesh.
RuntimeReporter::Mesh RuntimeReporter::submesh_of(const Mesh& mesh,
                                                  const std::vector<tm::IDevice*>& devices) {
  Mesh part;
  for (std::size_t i = 0; i < mesh.chips.size(); ++i) {
    const bool in_it = std::any_of(devices.begin(), devices.end(), [&](const tm::IDevice* chip) {
      return number_of(*chip) == mesh.chips[i];
    });
    if (!in_it) continue;
    part.chips.push_back(mesh.chips[i]);
    part.open.push_back(mesh.open[i]);
  }
  return part;
}

void RuntimeReporter::launched(tm::Program& program, tm::IDevice& device) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    last_ = {};
    dispatch(program, device, chips_.mesh_of(device));
  });
}

void RuntimeReporter::replayed(std::uint32_t trace) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    last_ = {};
    const auto found = traces_.find(trace);
    if (found == traces_.end()) return;
    for (const auto& [chip, programs] : found->second) {
      ttmem_trace_replay(chip, programs.data(), static_cast<std::uint32_t>(programs.size()));
    }
  });
}

void RuntimeReporter::released(std::uint32_t trace) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    traces_.erase(trace);
  });
}

}  // namespace ttmem::preload
