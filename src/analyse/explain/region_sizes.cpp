// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/region_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyse/explain/bank.hpp"
#include "read/placement/align.hpp"
#include "read/placement/memory_map.hpp"

namespace ttmem::explain {
namespace {

using placement::kMaxTracePageBytes;

bool all_known(const DeviceMemory& memory, Kind kind) { return memory.without_address[kind] == 0; }

std::uint64_t bytes_of(const std::optional<collector::BankRegion>& region) {
  return region ? region->range.end - region->range.begin : 0;
}

// Returns the bytes between the highest end of CBs and the lowest L1 buffer. A larger L1_SMALL
// region can take at most these bytes.
std::uint64_t gap_in_l1(const DeviceMemory& memory) {
  const auto& region = memory.regions[Kind::l1];
  if (!region) return 0;
  std::uint64_t cb_end = region->range.begin;
  for (const model::Program* program : memory.programs) {
    cb_end = std::max(cb_end, cb_end_of(*program));
  }
  const auto& buffers = memory.holders[Kind::l1];
  const std::uint64_t lowest = buffers.empty() ? region->range.end : buffers.front().address;
  return lowest - std::min(lowest, cb_end);
}

std::uint64_t end_of(const std::vector<BufferHolder>& holders, std::uint64_t otherwise) {
  return holders.empty() ? otherwise : holders.back().end();
}

// Returns the bytes per bank of a region that has room for its holders and for the request.
std::optional<std::uint64_t> larger_region(const DeviceMemory& memory, Kind kind,
                                           std::uint64_t step, std::uint64_t request) {
  const auto& region = memory.regions[kind];
  if (!all_known(memory, kind)) return std::nullopt;
  if (!region) {
    return memory.holders[kind].empty() ? std::optional(placement::align_up(request, step))
                                        : std::nullopt;
  }
  const auto bank = bank_of(memory, kind);
  if (!bank) return std::nullopt;
  const std::uint64_t more = placement::align_up(bank->missing_at_the_end(request), step);
  if (!bank->fits_with_more(more, request)) return std::nullopt;
  return bytes_of(region) + more;
}

// Returns true if DRAM buffers leave room for a trace region of `bytes` over all banks.
bool has_room_for_trace_region(const DeviceMemory& memory, std::uint64_t bytes) {
  const auto& dram = memory.regions[Kind::dram];
  if (!dram || !all_known(memory, Kind::dram) || memory.facts.dram_channels == 0) return false;
  const std::uint64_t channels = memory.facts.dram_channels;
  const std::uint64_t each = placement::trace_bytes_per_channel(bytes, channels);
  const std::uint64_t highest = end_of(memory.holders[Kind::dram], dram->range.begin);
  const std::uint64_t channel = memory.facts.dram_bytes_per_channel;
  return each <= channel && highest <= channel - each;
}

}  // namespace

std::optional<std::uint64_t> larger_l1_small(const DeviceMemory& memory, std::uint64_t request) {
  if (!memory.regions[Kind::l1] || !all_known(memory, Kind::l1)) return std::nullopt;
  const std::uint64_t step = memory.regions[Kind::l1]->step;
  const auto size = larger_region(memory, Kind::l1_small, step, request);
  if (!size || *size - bytes_of(memory.regions[Kind::l1_small]) > gap_in_l1(memory)) {
    return std::nullopt;
  }
  return size;
}

std::optional<std::uint64_t> smaller_l1_small(const DeviceMemory& memory, std::uint64_t more) {
  const auto& region = memory.regions[Kind::l1_small];
  if (!region || !all_known(memory, Kind::l1_small)) return std::nullopt;
  const auto& buffers = memory.holders[Kind::l1_small];
  const std::uint64_t lowest = buffers.empty() ? region->range.end : buffers.front().address;
  const std::uint64_t less = placement::align_up(more, region->step);
  if (less == 0 || lowest < region->range.begin || less > lowest - region->range.begin) {
    return std::nullopt;
  }
  return bytes_of(region) - less;
}

std::optional<std::uint64_t> larger_trace_region(const DeviceMemory& memory,
                                                 std::uint64_t request) {
  const auto size = larger_region(memory, Kind::trace, kMaxTracePageBytes, request);
  if (!size) return std::nullopt;
  const std::uint64_t all = *size * memory.facts.dram_channels;
  return has_room_for_trace_region(memory, all) ? std::optional(all) : std::nullopt;
}

std::optional<std::uint64_t> smaller_trace_region(const DeviceMemory& memory, std::uint64_t more) {
  const auto& region = memory.regions[Kind::trace];
  if (!region || !all_known(memory, Kind::trace)) return std::nullopt;
  const std::uint64_t unused =
      region->range.end - end_of(memory.holders[Kind::trace], region->range.begin);
  const std::uint64_t less = placement::align_up(more, kMaxTracePageBytes);
  if (less == 0 || less > unused) return std::nullopt;
  return (bytes_of(region) - less) * memory.facts.dram_channels;
}

std::optional<std::uint64_t> trace_region_for(const DeviceMemory& memory,
                                              std::uint64_t all_traces) {
  const std::uint64_t channels = memory.facts.dram_channels;
  std::uint64_t there = 0;
  for (const BufferHolder& trace : memory.holders[Kind::trace]) there += trace.bytes;
  if (channels == 0 || there > all_traces || all_traces > kMaxBytes) return std::nullopt;
  const std::uint64_t pages = (all_traces - there + kMaxTracePageBytes - 1) / kMaxTracePageBytes;
  const std::uint64_t each = (pages + channels - 1) / channels * kMaxTracePageBytes;
  const auto size = larger_trace_region(memory, each);
  return size ? std::optional(std::max(*size, all_traces)) : std::nullopt;
}

std::string l1_small_now(const DeviceMemory& memory) {
  if (!memory.regions[Kind::l1]) return "";
  std::uint64_t used = 0;
  for (const BufferHolder& holder : memory.holders[Kind::l1_small]) used += holder.bytes_per_bank;
  return fmt::format(" (now {}, of which {} are in use)", bytes_of(memory.regions[Kind::l1_small]),
                     used);
}

std::string trace_region_setting(std::uint64_t bytes, std::uint64_t channels) {
  std::string text = fmt::format("trace_region_size={}", bytes);
  if (channels > 1) {
    text += fmt::format(" (over all {} DRAM banks; TT-Metal before January 2026 counts one: {})",
                        channels, (bytes + channels - 1) / channels);
  }
  return text;
}

}  // namespace ttmem::explain
