// SPDX-License-Identifier: Apache-2.0
#include "read/collector/free_space.hpp"

#include <algorithm>

#include "base/saturating.hpp"
#include "read/placement/align.hpp"
#include "read/placement/board.hpp"
#include "read/placement/memory_map.hpp"

namespace ttmem::collector {
namespace {

// Returns the free space of a region. `taken` must be a result of join().
model::FreeSpace free_of(const BankRegion& region, std::span<const AddressRange> taken) {
  std::uint64_t free = 0;
  std::uint64_t largest = 0;
  std::uint64_t begin = region.range.begin;  // of the current free block
  const auto add_block_up_to = [&](std::uint64_t end) {
    if (end <= begin) return;
    free += end - begin;
    largest = std::max(largest, end - begin);
  };
  for (const AddressRange& range : taken) {
    if (range.begin < region.range.begin || range.end > region.range.end) return {};
    add_block_up_to(range.begin);
    begin = placement::align_up(range.end, region.step);
  }
  add_block_up_to(region.range.end);
  return {free, largest};
}

// Returns true if buffers of `kind` may exist, but the region of these buffers is unknown.
bool has_unstated_region(Kind kind, const PerKind<std::optional<BankRegion>>& regions,
                         const Taken& taken) {
  return !regions[kind] && !(taken[kind] && taken[kind]->empty());
}

}  // namespace

void join(std::vector<AddressRange>& ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  std::size_t joined = 0;
  for (const AddressRange& range : ranges) {
    if (joined > 0 && range.begin <= ranges[joined - 1].end) {
      ranges[joined - 1].end = std::max(ranges[joined - 1].end, range.end);
    } else {
      ranges[joined++] = range;
    }
  }
  ranges.resize(joined);
}

Taken taken_by(std::span<const segment::LiveAllocation* const> buffers, bool all_listed) {
  Taken taken{};
  if (!all_listed) return taken;
  for (const Kind kind : kBankKinds) taken[kind].emplace();
  for (const segment::LiveAllocation* buffer : buffers) {
    std::optional<std::vector<AddressRange>>& ranges = taken[buffer->kind];
    if (!ranges) continue;
    if (buffer->address && buffer->bytes_per_bank) {
      const std::uint64_t end = saturating_add(*buffer->address, *buffer->bytes_per_bank);
      ranges->push_back({*buffer->address, end});
    } else {
      ranges.reset();
    }
  }
  for (const Kind kind : kBankKinds) {
    if (taken[kind]) join(*taken[kind]);
  }
  return taken;
}

PerKind<std::optional<BankRegion>> regions_of(std::string_view arch, const BankFacts& facts) {
  PerKind<std::optional<BankRegion>> regions{};
  const placement::ChipSpec* const chip = placement::find_chip(arch);
  if (chip == nullptr) return regions;
  const auto set = [&](Kind kind, std::uint64_t begin, std::uint64_t end) {
    if (begin < end) regions[kind] = BankRegion{{begin, end}, chip->dram_alignment};
  };
  const std::uint64_t l1 = facts.l1_bytes_per_core;
  if (l1 != 0 && facts.l1_small_bytes_per_core <= l1) {
    const std::uint64_t small = l1 - facts.l1_small_bytes_per_core;
    if (facts.l1_base != 0) set(Kind::l1, facts.l1_base, small);
    set(Kind::l1_small, small, l1);
  }
  const std::uint64_t channel = facts.dram_bytes_per_channel;
  if (channel == 0 || facts.dram_channels == 0) return regions;
  const std::uint64_t trace =
      placement::trace_bytes_per_channel(facts.trace_region_bytes, facts.dram_channels);
  if (trace <= channel) {
    set(Kind::dram, chip->dram_base, channel - trace);
    set(Kind::trace, channel - trace, channel);
  }
  return regions;
}

PerKind<model::FreeSpace> free_space(const PerKind<std::optional<BankRegion>>& regions,
                                     const Taken& taken) {
  PerKind<model::FreeSpace> free{};
  for (const Kind kind : kBankKinds) {
    if (regions[kind] && taken[kind]) free[kind] = free_of(*regions[kind], *taken[kind]);
  }
  if (has_unstated_region(Kind::trace, regions, taken)) free[Kind::dram] = {};
  if (has_unstated_region(Kind::l1_small, regions, taken)) free[Kind::l1] = {};
  return free;
}

}  // namespace ttmem::collector
