// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.hpp"

namespace ttmem::explain {
namespace {

collector::BankFacts facts_of(const model::Device& device) {
  collector::BankFacts facts{.l1_bytes_per_core = device.l1_bytes_per_core.value_or(0),
                             .l1_base = device.l1_base.value_or(0),
                             .l1_small_bytes_per_core = device.l1_small_region_bytes.value_or(0),
                             .dram_channels = device.dram_channels,
                             .trace_region_bytes = device.trace_capacity_bytes.value_or(0)};
  if (device.dram_channels != 0) {
    facts.dram_bytes_per_channel = device.dram_capacity_bytes.value_or(0) / device.dram_channels;
  }
  return facts;
}

bool is_asked_for(const model::Process& process, std::optional<std::int32_t> pid) {
  return !pid || process.pid == *pid || process.host_pid == *pid;
}

// Returns `bytes`, rounded up to whole steps of the allocator.
std::uint64_t taken_by(std::uint64_t bytes, const std::optional<collector::BankRegion>& region) {
  const std::uint64_t step = region ? region->step : 1;
  return saturating_add(std::max<std::uint64_t>(bytes, 1), step - 1) / step * step;
}

void add_holder(DeviceMemory& memory, const model::Allocation& allocation) {
  const Kind kind = allocation.kind;
  if (!allocation.address || !allocation.bytes_per_bank) {
    ++memory.without_address[kind];
    return;
  }
  memory.holders[kind].push_back(
      {.kind = kind,
       .label = allocation.label,
       .scope = allocation.scope,
       .pid = allocation.pid,
       .id = allocation.id,
       .address = *allocation.address,
       .bytes = allocation.bytes,
       .bytes_per_bank = taken_by(*allocation.bytes_per_bank, memory.regions[kind]),
       .age_ns = allocation.age_ns,
       .cores = allocation.cores});
}

}  // namespace

bool is_bank_kind(Kind kind) {
  return std::find(kBankKinds.begin(), kBankKinds.end(), kind) != kBankKinds.end();
}

std::string name_of(const BufferHolder& holder) {
  std::string origin = model::origin_of(holder.scope, holder.label);
  if (!origin.empty()) return origin;
  return holder.id == 0 ? "(no name)"
                        : fmt::format("{} buffer {}", ttmem::name_of(holder.kind), holder.id);
}

void sort_largest_first(std::vector<BufferHolder>& holders) {
  std::stable_sort(holders.begin(), holders.end(),
                   [](const BufferHolder& a, const BufferHolder& b) {
                     return a.bytes_per_bank > b.bytes_per_bank;
                   });
}

std::vector<MemoryRef> memory_refs(const model::Snapshot& snapshot,
                                   std::optional<std::int32_t> pid) {
  std::vector<MemoryRef> refs;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    const auto& processes = snapshot.devices[d].processes;
    for (std::size_t p = 0; p < processes.size(); ++p) {
      const bool is_tracked = processes[p].not_tracked.empty();
      if (is_tracked && is_asked_for(processes[p], pid)) refs.push_back({d, p});
    }
  }
  return refs;
}

DeviceMemory outline(const model::Snapshot& snapshot, const MemoryRef& ref) {
  const model::Device& device = snapshot.devices[ref.device];
  DeviceMemory memory{
      .device = &device, .process = &device.processes[ref.process], .facts = facts_of(device)};
  memory.regions = collector::regions_of(device.arch, memory.facts);
  return memory;
}

DeviceMemory device_memory(const model::Snapshot& snapshot, const MemoryRef& ref) {
  DeviceMemory memory = outline(snapshot, ref);
  const model::ProcessKey key = model::key_of(*memory.process);
  for (const model::Allocation& allocation : snapshot.allocations) {
    const bool is_meant = is_bank_kind(allocation.kind) && model::key_of(allocation) == key &&
                          model::is_on(allocation, ref.device);
    if (is_meant) add_holder(memory, allocation);
  }
  for (const model::Program& program : snapshot.programs) {
    if (program.device == ref.device && model::key_of(program) == key) {
      memory.programs.push_back(&program);
    }
  }
  for (const Kind kind : kBankKinds) {
    std::sort(memory.holders[kind].begin(), memory.holders[kind].end(),
              [](const BufferHolder& a, const BufferHolder& b) { return a.address < b.address; });
  }
  return memory;
}

std::uint64_t cb_end_of(const model::Program& program) {
  std::uint64_t end = 0;
  for (const model::CircularBuffer& cb : program.cbs) {
    if (!cb.global) end = std::max(end, saturating_add(cb.address, cb.bytes));
  }
  return end;
}

}  // namespace ttmem::explain
