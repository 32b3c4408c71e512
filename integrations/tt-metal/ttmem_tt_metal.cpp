// SPDX-License-Identifier: Apache-2.0
#include "ttmem_tt_metal.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "describe.hpp"

namespace ttmem::tt_metal {
namespace {

bool overlap(const std::vector<ttmem_core_range>& a, const std::vector<ttmem_core_range>& b) {
  return std::any_of(a.begin(), a.end(), [&](const ttmem_core_range& p) {
    return std::any_of(b.begin(), b.end(), [&](const ttmem_core_range& q) {
      return p.x0 <= q.x1 && q.x0 <= p.x1 && p.y0 <= q.y1 && q.y0 <= p.y1;
    });
  });
}

std::size_t count_cores(const std::vector<ttmem_core_range>& ranges) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> cores;
  for (const ttmem_core_range& range : ranges) {
    for (std::uint32_t y = range.y0; y <= range.y1; ++y) {
      for (std::uint32_t x = range.x0; x <= range.x1; ++x) cores.insert({x, y});
    }
  }
  return cores.size();
}

}  // namespace

const std::shared_ptr<Processor>& Processor::instance() {
  // Never destroyed: buffers may be freed during exit.
  static const auto& processor = *new std::shared_ptr<Processor>(std::make_shared<Processor>());
  return processor;
}

// There is one processor, so the state of a thread needs neither a lookup nor the lock.
Processor::ThreadState& Processor::this_thread() {
  thread_local ThreadState state;
  return state;
}

const char*& Processor::label_of_this_thread() {
  thread_local const char* label = nullptr;
  return label;
}

void Processor::open(const tm::IDevice& chip) {
  if (!open_chips_.insert(number_of(chip)).second) return;
  const ttmem_device_info info = device_info(chip);
  ttmem_device_open(&info);
  // The hooks report every buffer and every CB. Kernels and dispatches need a ProgramScope.
  ttmem_reports(info.id, TTMEM_REPORTS_BUFFERS | TTMEM_REPORTS_PROGRAMS);
}

void Processor::open_device(const tm::IDevice& chip, const DeviceFacts& facts) {
  if (!ttmem_enabled()) return;
  std::lock_guard lock(mutex_);
  open(chip);
  ttmem_device_info more{};  // unset fields change nothing
  more.struct_size = sizeof(more);
  more.id = number_of(chip);
  more.uid = facts.uid;
  more.board = facts.board;
  ttmem_device_open(&more);
  for (const std::uint64_t bytes : facts.dispatch_kernels) {
    // Other kernels have the number of their group, from the same counter.
    ttmem_kernel_load(more.id, next_group_++, bytes, TTMEM_KERNEL_DISPATCH);
  }
}

void Processor::track_allocate(const tm::Buffer* buffer) {
  if (!ttmem_enabled()) return;
  const auto cores = cores_of(*buffer);
  const ttmem_buffer record = describe(*buffer, cores, label_of_this_thread());

  std::lock_guard lock(mutex_);
  this_thread().reporting.reset();
  auto& chips = buffers_[record.id];
  for (const tm::IDevice* chip : chips_of(buffer->device())) {
    open(*chip);
    chips.push_back(number_of(*chip));
  }
  ttmem_mesh_buffer_alloc(chips.data(), static_cast<std::uint32_t>(chips.size()), &record);
}

void Processor::track_deallocate(tm::Buffer* buffer) {
  if (!ttmem_enabled()) return;
  std::lock_guard lock(mutex_);
  this_thread().reporting.reset();
  // A buffer that was allocated on a thread without attach() was never counted.
  const auto found = buffers_.find(tracker_id(*buffer));
  if (found == buffers_.end()) return;
  const std::vector<std::uint32_t>& chips = found->second;
  ttmem_mesh_buffer_free(chips.data(), static_cast<std::uint32_t>(chips.size()), type_of(*buffer),
                         found->first);
  buffers_.erase(found);
}

void Processor::track_allocate_cb(const tm::CoreRangeSet& cores, std::uint64_t address,
                                  std::uint64_t size, bool is_globally_allocated,
                                  const tm::IDevice* device) {
  add_cb(cores, address, size, is_globally_allocated, device);
}

void Processor::track_allocate_dataflow_buffer(const tm::CoreRangeSet& cores, std::uint64_t address,
                                               std::uint64_t size, bool borrows_memory,
                                               const tm::IDevice* device) {
  add_cb(cores, address, size, borrows_memory, device);
}

void Processor::track_allocate_scratchpad(const tm::CoreRangeSet& cores, std::uint64_t address,
                                          std::uint64_t size, const tm::IDevice* device) {
  add_cb(cores, address, size, false, device);
}

void Processor::add_cb(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t size,
                       bool is_view, const tm::IDevice* device) {
  if (!ttmem_enabled()) return;
  const Cb cb{ranges_of(cores), address, size, is_view};
  std::lock_guard lock(mutex_);
  for (const tm::IDevice* each : chips_of(device)) {
    open(*each);
    const std::uint32_t chip = number_of(*each);
    const std::uint64_t id = group_for(this_thread(), chip, cb);
    auto& cbs = groups_[id].cbs[chip];
    cbs.push_back(cb);
    // Places the whole list each time, because no hook says when it is complete.
    std::vector<ttmem_cb> records;
    for (const Cb& own : cbs) {
      records.push_back({own.address, own.bytes, own.cores.data(),
                         static_cast<std::uint32_t>(own.cores.size()),
                         own.is_view ? TTMEM_CB_GLOBAL : 0u});
    }
    ttmem_program_place(chip, id, records.data(), static_cast<std::uint32_t>(records.size()));
  }
}

std::uint64_t Processor::group_for(ThreadState& thread, std::uint32_t chip, const Cb& cb) {
  thread.dying.reset();
  if (thread.identity != nullptr) {
    const auto [named, is_new] = named_.try_emplace(thread.identity, next_group_);
    if (is_new) ++next_group_;
    const std::uint64_t id = named->second;
    Group& group = groups_[id];
    group.identity = thread.identity;
    // The first circular buffer of a scope replaces those of an earlier scope.
    if (std::exchange(group.scope[chip], thread.scope) != thread.scope) group.cbs[chip].clear();
    return id;
  }
  const auto current = thread.reporting ? groups_.find(*thread.reporting) : groups_.end();
  const bool goes_on = current != groups_.end() && [&] {
    const auto& cbs = current->second.cbs[chip];
    return cb.is_view || std::none_of(cbs.begin(), cbs.end(), [&](const Cb& own) {
             return !own.is_view && own.address < cb.address + cb.bytes &&
                    cb.address < own.address + own.bytes && overlap(own.cores, cb.cores);
           });
  }();
  if (!goes_on) thread.reporting = next_group_++;
  return *thread.reporting;
}

void Processor::track_deallocate_cb(const tm::IDevice* device) {
  if (!ttmem_enabled()) return;
  std::lock_guard lock(mutex_);
  const std::uint32_t chip = number_of(*device);
  ThreadState& thread = this_thread();
  thread.reporting.reset();
  if (auto announced = announced_frees_.find(chip); announced != announced_frees_.end()) {
    if (--announced->second == 0) announced_frees_.erase(announced);
    return;
  }
  // A program is destroyed chip by chip: this is the same program as on the last chip.
  const auto dying = thread.dying ? groups_.find(*thread.dying) : groups_.end();
  if (dying == groups_.end() || !dying->second.cbs.contains(chip)) {
    thread.dying = youngest_on(chip);
  }
  if (thread.dying) leave(*thread.dying, chip);
}

void Processor::track_program(tm::Program*, const tm::IDevice*) {
  std::lock_guard lock(mutex_);
  this_thread().reporting.reset();
}

std::optional<std::uint64_t> Processor::find(const void* identity) const {
  const auto found = named_.find(identity);
  return found == named_.end() ? std::nullopt : std::optional(found->second);
}

void Processor::erase(std::uint64_t id) {
  const auto group = groups_.find(id);
  if (group->second.identity != nullptr) named_.erase(group->second.identity);
  groups_.erase(group);
}

void Processor::dispatched(const void* identity, const std::vector<std::uint32_t>& chips,
                           const tm::CoreRangeSet& kernel_cores,
                           const std::function<KernelBytes()>& collect) {
  if (!ttmem_enabled()) return;
  std::lock_guard lock(mutex_);
  const auto id = find(identity);
  if (!id) return;  // it has no circular buffers, or they were not reported
  Group& group = groups_[*id];
  if (!group.kernels) {
    group.kernels = collect();
    if (kernel_cores.empty()) group.kernels->estimate = true;
  }
  for (const std::uint32_t chip : chips) {
    if (!group.cbs.contains(chip)) continue;
    ttmem_program_dispatch(chip, *id);
    if (group.kernels->per_core != 0) load_kernels(*id, chip, kernel_cores);
  }
}

// The ring of a core may still hold earlier kernels. Only the last ones are certain, and counted.
void Processor::load_kernels(std::uint64_t id, std::uint32_t chip,
                             const tm::CoreRangeSet& kernel_cores) {
  auto& loaded = loaded_[chip];
  if (loaded.contains(id)) return;
  const Group& group = groups_[id];
  Ranges cores = ranges_of(kernel_cores);
  if (cores.empty()) {
    for (const Cb& cb : group.cbs.at(chip)) {
      cores.insert(cores.end(), cb.cores.begin(), cb.cores.end());
    }
  }
  std::vector<std::uint64_t> evicted;
  for (const auto& [other, its_cores] : loaded) {
    if (overlap(its_cores, cores)) evicted.push_back(other);
  }
  for (const std::uint64_t other : evicted) unload_kernels(other, chip);
  const std::uint64_t bytes = group.kernels->per_core * count_cores(cores);
  const auto load = group.kernels->estimate ? ttmem_kernel_load_estimate : ttmem_kernel_load;
  load(chip, id, bytes, TTMEM_KERNEL_APP);
  loaded.emplace(id, std::move(cores));
}

void Processor::unload_kernels(std::uint64_t id, std::uint32_t chip) {
  if (loaded_[chip].erase(id) != 0) ttmem_kernel_unload(chip, id);
}

void Processor::replayed(const std::vector<const void*>& identities,
                         const std::vector<std::uint32_t>& chips) {
  if (!ttmem_enabled()) return;
  std::lock_guard lock(mutex_);
  for (const std::uint32_t chip : chips) {
    std::vector<std::uint64_t> programs;
    for (const void* identity : identities) {
      const auto id = find(identity);
      if (id && groups_[*id].cbs.contains(chip)) programs.push_back(*id);
    }
    if (programs.empty()) continue;
    ttmem_trace_replay(chip, programs.data(), static_cast<std::uint32_t>(programs.size()));
  }
}

// Prefers groups without a known program: forget_program() is expected to announce the others.
std::optional<std::uint64_t> Processor::youngest_on(std::uint32_t chip) const {
  std::optional<std::uint64_t> known;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    if (!group->second.cbs.contains(chip)) continue;
    if (group->second.identity == nullptr) return group->first;
    if (!known) known = group->first;
  }
  return known;
}

void Processor::leave(std::uint64_t id, std::uint32_t chip) {
  Group& group = groups_[id];
  group.cbs.erase(chip);
  unload_kernels(id, chip);
  if (!group.cbs.empty()) {
    ttmem_program_place(chip, id, nullptr, 0);
    return;
  }
  ttmem_program_destroy(id);
  erase(id);
}

void Processor::begin_scope(const void* identity) {
  std::lock_guard lock(mutex_);
  ThreadState& thread = this_thread();
  thread.identity = identity;
  thread.scope = next_scope_++;
}

void Processor::end_scope() {
  std::lock_guard lock(mutex_);
  this_thread().identity = nullptr;
  this_thread().reporting.reset();
}

void Processor::forget(const void* identity) {
  std::lock_guard lock(mutex_);
  const auto id = find(identity);
  if (!id) return;
  for (const auto& [chip, cbs] : groups_[*id].cbs) {
    ++announced_frees_[chip];
    unload_kernels(*id, chip);
  }
  ttmem_program_destroy(*id);
  erase(*id);
}

void Processor::close_device(std::uint32_t chip) {
  std::lock_guard lock(mutex_);
  if (open_chips_.erase(chip) == 0) return;
  ttmem_device_close(chip);
  announced_frees_.erase(chip);
  loaded_.erase(chip);
  std::vector<std::uint64_t> left;
  for (auto& [id, group] : groups_) {
    group.cbs.erase(chip);
    if (group.cbs.empty()) left.push_back(id);
  }
  for (const std::uint64_t id : left) erase(id);
  for (auto& [id, chips] : buffers_) std::erase(chips, chip);
  std::erase_if(buffers_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace ttmem::tt_metal
