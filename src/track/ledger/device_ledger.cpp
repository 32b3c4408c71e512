// SPDX-License-Identifier: Apache-2.0
#include "track/ledger/device_ledger.hpp"

#include <algorithm>

namespace ttmem::ledger {
namespace {

// The maximum number of traces that are kept for the next trace replay although no core holds them.
// A decoding loop replays a few traces in turn, and computing a trace again takes time linear in
// the number of its programs.
constexpr std::size_t kIdleTraces = 16;

std::uint32_t bytes_on(const Footprint& footprint, std::uint32_t core) noexcept {
  for (const Footprint::Part& part : footprint.parts) {
    if (part.cores.test(core)) return part.bytes;
  }
  return 0;
}

}  // namespace

// The programs of one captured trace. If a trace was sent to a core last, the core holds the
// program of the trace that takes the most bytes on the core.
struct Trace {
  struct Member {
    Placement* placement;
    std::uint32_t
        resident_cores;  // number of cores that the trace adds to Placement::resident_cores
  };

  std::vector<std::uint64_t> programs;  // as the caller listed the programs
  std::vector<Member> members;          // the placed programs, each once
  std::uint32_t unknown = 0;            // number of programs that are not placed
  CoreMask cores;                       // cores that any member covers
  CoreMask owned;                       // cores whose last dispatch was this trace
  std::vector<std::uint32_t> bytes;     // size of the largest member, by core
  bool stale = false;                   // the programs changed; the next replay needs a new trace
  bool owned_changed = false;           // `owned` changed since the members were updated
};

namespace {

// Returns the cores on which `footprint` is as large as the largest member of the trace. On the
// other cores, removing the footprint changes nothing.
CoreMask largest_of(const Trace& trace, const Footprint& footprint) noexcept {
  CoreMask cores;
  for (const Footprint::Part& part : footprint.parts) {
    (part.cores & trace.cores).for_each([&](std::uint32_t core) {
      if (part.bytes == trace.bytes[core]) cores.set(core);
    });
  }
  return cores;
}

}  // namespace

DeviceLedger::DeviceLedger(std::uint32_t cores)
    : core_count_(cores), class_of_(cores, 0), occupants_(cores) {
  classes_.push_back({CoreMask::first(cores), cores, 0, 0, {}});
}

DeviceLedger::~DeviceLedger() = default;

Placement* DeviceLedger::find(std::uint64_t program) noexcept {
  const auto it = placements_.find(program);
  return it == placements_.end() ? nullptr : it->second;
}

DeviceLedger::Core DeviceLedger::core(std::uint32_t index) const noexcept {
  const CoreClass& cores = classes_[class_of_[index]];
  return {cores.bytes, occupants_[index].bytes, cores.end};
}

CoreMask DeviceLedger::take_changed_cores() noexcept {
  return std::exchange(changed_cores_, CoreMask{});
}

DeviceLedger::Placed DeviceLedger::place(std::uint64_t program, FootprintRef&& footprint) {
  Placement* placement = find(program);
  if (placement != nullptr && placement->footprint.get() == footprint.get()) {
    return Placed::unchanged;
  }
  const bool fresh = placement == nullptr;
  if (fresh) placement = new_placement(program);
  // Adds the new footprint first, so that ranges in both footprints are not removed in between.
  use(footprint.get());
  std::swap(placement->footprint, footprint);
  if (fresh) return Placed::fresh;
  on_layout_change(*placement, *footprint.get(), true);
  unuse(footprint.get());
  return Placed::replaced;
}

bool DeviceLedger::remove(std::uint64_t program) {
  const auto it = placements_.find(program);
  if (it == placements_.end()) return false;
  Placement* placement = it->second;
  vacate(*placement);
  if (placement->changed) std::erase(changed_programs_, placement);
  unuse(placement->footprint.get());
  free_placements_.push_back(placement);
  placements_.erase(it);
  *placement = Placement{};
  if (placements_.empty() && classes_.size() > 1) {
    // Without programs, all cores form one class again.
    classes_.assign(1, {CoreMask::first(core_count_), core_count_, 0, 0, {}});
    std::fill(class_of_.begin(), class_of_.end(), std::uint16_t{0});
  }
  return true;
}

Placement* DeviceLedger::new_placement(std::uint64_t program) {
  if (free_placements_.empty()) {
    free_placements_.reserve(placement_pool_.size() + 1);
    free_placements_.push_back(&placement_pool_.emplace_back());
  }
  Placement* placement = free_placements_.back();
  placements_.emplace(program, placement);
  free_placements_.pop_back();
  placement->program = program;
  return placement;
}

// --- physical ---------------------------------------------------------------------------------

void DeviceLedger::use(Footprint* footprint) {
  if (uses_[footprint]++ == 0) apply(*footprint, true);
  logical_bytes_ += footprint->logical_bytes;
}

void DeviceLedger::unuse(Footprint* footprint) {
  const auto it = uses_.find(footprint);
  if (--it->second == 0) {
    uses_.erase(it);
    apply(*footprint, false);
  }
  logical_bytes_ -= footprint->logical_bytes;
}

void DeviceLedger::apply(const Footprint& footprint, bool add) {
  for (const Footprint::Part& part : footprint.parts) {
    if (part.ranges.empty()) continue;
    for (std::size_t i = 0, count = classes_.size(); i < count; ++i) {
      const CoreMask inside = classes_[i].cores & part.cores;
      if (inside.empty()) continue;
      if (inside != classes_[i].cores) split(i, inside);
      CoreClass& cores = classes_[i];
      for (const Interval& range : part.ranges) {
        add ? cores.ranges.add(range) : cores.ranges.remove(range);
      }
      if (cores.ranges.length() == cores.bytes && cores.ranges.end() == cores.end) continue;
      physical_bytes_ -= std::uint64_t{cores.bytes} * cores.core_count;
      cores.bytes = cores.ranges.length();
      cores.end = cores.ranges.end();
      physical_bytes_ += std::uint64_t{cores.bytes} * cores.core_count;
      changed_cores_ |= cores.cores;
    }
  }
}

// Splits a class: the cores of `inside` stay in the class, and its other cores form a new class.
void DeviceLedger::split(std::size_t index, const CoreMask& inside) {
  CoreClass rest = classes_[index];
  rest.cores = rest.cores - inside;
  rest.core_count = rest.cores.count();
  const auto rest_index = static_cast<std::uint16_t>(classes_.size());
  rest.cores.for_each([&](std::uint32_t core) { class_of_[core] = rest_index; });
  classes_.push_back(std::move(rest));
  classes_[index].cores = inside;
  classes_[index].core_count = inside.count();
}

// --- resident ---------------------------------------------------------------------------------

bool DeviceLedger::dispatch(std::uint64_t program) {
  Placement* placement = find(program);
  if (placement == nullptr) return false;
  if (placement->fully_resident) return true;
  for (const Footprint::Part& part : placement->footprint->parts) {
    part.cores.for_each([&](std::uint32_t core) {
      occupy(core, {placement, nullptr, part.bytes});
    });
  }
  placement->fully_resident = true;
  update_traces();
  return true;
}

std::uint32_t DeviceLedger::replay_trace(std::span<const std::uint64_t> programs) {
  Trace* trace = find_trace(programs);
  if (trace == nullptr) trace = new_trace(programs);
  if (trace->owned != trace->cores) {
    trace->cores.for_each([&](std::uint32_t core) {
      occupy(core, {nullptr, trace, trace->bytes[core]});
    });
  }
  const std::uint32_t unknown = trace->unknown;
  update_traces();
  return unknown;
}

void DeviceLedger::occupy(std::uint32_t core, Occupant occupant) {
  Occupant& now = occupants_[core];
  set_resident_bytes(core, occupant.bytes);
  if (now.program == occupant.program && now.trace == occupant.trace) return;
  if (now.program != nullptr) {
    --now.program->resident_cores;
    now.program->fully_resident = false;
    note_change(*now.program);
  }
  if (occupant.program != nullptr) {
    ++occupant.program->resident_cores;
    note_change(*occupant.program);
  }
  if (now.trace != nullptr) {
    now.trace->owned.clear(core);
    now.trace->owned_changed = true;
  }
  if (occupant.trace != nullptr) {
    occupant.trace->owned.set(core);
    occupant.trace->owned_changed = true;
  }
  now.program = occupant.program;
  now.trace = occupant.trace;
}

// Removes the program from all cores on which it is resident.
void DeviceLedger::vacate(Placement& placement) {
  if (placement.resident_cores > 0) {
    for (std::uint32_t core = 0; core < core_count_; ++core) {
      if (occupants_[core].program == &placement) occupy(core, {});
    }
  }
  on_layout_change(placement, *placement.footprint.get(), false);
}

void DeviceLedger::set_resident_bytes(std::uint32_t core, std::uint32_t bytes) noexcept {
  std::uint32_t& now = occupants_[core].bytes;
  if (now == bytes) return;
  resident_bytes_ += bytes;
  resident_bytes_ -= now;
  now = bytes;
  changed_cores_.set(core);
}

void DeviceLedger::note_change(Placement& placement) {
  if (placement.changed) return;
  changed_programs_.push_back(&placement);
  placement.changed = true;
}

// --- traces -----------------------------------------------------------------------------------

Trace* DeviceLedger::find_trace(std::span<const std::uint64_t> programs) noexcept {
  for (const auto& trace : traces_) {
    if (!trace->stale && std::equal(programs.begin(), programs.end(), trace->programs.begin(),
                                    trace->programs.end())) {
      return trace.get();
    }
  }
  return nullptr;
}

Trace* DeviceLedger::new_trace(std::span<const std::uint64_t> programs) {
  auto trace = std::make_unique<Trace>();
  trace->programs.assign(programs.begin(), programs.end());
  std::vector<std::uint64_t> distinct = trace->programs;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::uint64_t program : distinct) {
    Placement* placement = find(program);
    if (placement == nullptr) {
      ++trace->unknown;
      // The next replay makes a new trace, because the program may be placed by then.
      trace->stale = true;
      continue;
    }
    trace->members.push_back({placement, 0});
    trace->cores |= placement->footprint->cores;
  }
  trace->bytes.resize(core_count_);
  refresh(*trace, trace->cores);
  traces_.push_back(std::move(trace));
  for (const Trace::Member& member : traces_.back()->members) ++member.placement->traces;
  return traces_.back().get();
}

// Updates the figures after the footprint of `placement` was replaced, or when the program is
// removed. `old` is the earlier footprint; `still_there` is false if the program is removed.
void DeviceLedger::on_layout_change(Placement& placement, const Footprint& old, bool still_there) {
  if (still_there && placement.resident_cores > 0) {
    for (std::uint32_t core = 0; core < core_count_; ++core) {
      if (occupants_[core].program != &placement) continue;
      set_resident_bytes(core, bytes_on(*placement.footprint.get(), core));
    }
  }
  placement.fully_resident = false;
  if (placement.traces == 0) return;
  for (const auto& trace : traces_) {
    const auto member =
        std::find_if(trace->members.begin(), trace->members.end(),
                     [&](const Trace::Member& m) { return m.placement == &placement; });
    if (member == trace->members.end()) continue;
    trace->stale = true;
    trace->owned_changed = true;
    if (!still_there) trace->members.erase(member);
    // Computes nothing for a trace that no core holds, because update_traces() removes the trace.
    if (trace->owned.empty()) continue;
    CoreMask cores = largest_of(*trace, old);
    if (still_there) cores |= placement.footprint->cores & trace->cores;
    refresh(*trace, cores);
  }
  update_traces();
}

// Computes the largest member of the trace again for each of `cores`.
void DeviceLedger::refresh(Trace& trace, const CoreMask& cores) noexcept {
  cores.for_each([&](std::uint32_t core) { trace.bytes[core] = 0; });
  for (const Trace::Member& member : trace.members) {
    for (const Footprint::Part& part : member.placement->footprint->parts) {
      (part.cores & cores).for_each([&](std::uint32_t core) {
        trace.bytes[core] = std::max(trace.bytes[core], part.bytes);
      });
    }
  }
  (cores & trace.owned).for_each([&](std::uint32_t core) {
    set_resident_bytes(core, trace.bytes[core]);
  });
}

// Updates resident_cores of the members of changed traces. Removes traces that no core holds, if
// they are stale or if there are too many of them.
void DeviceLedger::update_traces() {
  std::size_t idle = 0;
  for (std::size_t i = traces_.size(); i-- > 0;) {
    Trace& trace = *traces_[i];
    if (trace.owned_changed) {
      for (Trace::Member& member : trace.members) {
        const std::uint32_t cores = (member.placement->footprint->cores & trace.owned).count();
        if (cores == member.resident_cores) continue;
        member.placement->resident_cores += cores;
        member.placement->resident_cores -= member.resident_cores;
        member.resident_cores = cores;
        note_change(*member.placement);
      }
      trace.owned_changed = false;
    }
    if (!trace.owned.empty()) continue;
    if (!trace.stale && ++idle <= kIdleTraces) continue;
    for (const Trace::Member& member : trace.members) --member.placement->traces;
    traces_.erase(traces_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace ttmem::ledger
