// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/translate.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "analyse/fit/scale.hpp"
#include "base/saturating.hpp"
#include "read/placement/align.hpp"
#include "read/placement/bytes_per_bank.hpp"
#include "text/core_ranges.hpp"

namespace ttmem::fit {
namespace {

using recording::RecordedRequest;
using Spread = BufferLayout::Spread;
using Direction = BufferLayout::Direction;

bool is_bank_kind(Kind kind) {
  return std::find(kBankKinds.begin(), kBankKinds.end(), kind) != kBankKinds.end();
}

// Returns the cores with their numbers in the other grid. Returns nullopt if the other grid lacks a
// core, or if the number of columns of the recorded grid is unknown.
std::optional<CoreMask> renumbered(const CoreMask& cores, const Target& target) {
  const std::uint32_t columns = target.recorded.grid_x;
  if (columns == 0) return std::nullopt;
  CoreMask there;
  bool all = true;
  cores.for_each([&](std::uint32_t core) {
    const std::uint32_t x = core % columns;
    const std::uint32_t y = core / columns;
    const bool is_there = x < target.grid.x && y < target.grid.y;
    all = all && is_there;
    if (is_there) there.set(y * target.grid.x + x);
  });
  return all ? std::optional(there) : std::nullopt;
}

// Returns true if the cores are the whole grid of the recorded device.
bool is_whole_grid(const CoreMask& cores, const Target& target) {
  return cores.count() == std::uint32_t{target.recorded.grid_x} * target.recorded.grid_y;
}

// Returns the cores that the program would probably use on the board. If the program used the whole
// recorded grid, these are the whole grid of the board. Otherwise they are the same cores, with
// another core in place of each missing core. Returns nullopt if the recorded grid is unknown.
std::optional<CoreMask> estimated(const CoreMask& cores, const Target& target) {
  const std::uint32_t columns = target.recorded.grid_x;
  if (columns == 0) return std::nullopt;
  if (is_whole_grid(cores, target)) return CoreMask::first(target.grid.x * target.grid.y);
  CoreMask there;
  cores.for_each([&](std::uint32_t core) {
    there.set(core / columns % target.grid.y * target.grid.x + core % columns % target.grid.x);
  });
  return there;
}

std::optional<CoreMask> translated_cores(const CoreMask& cores, const Target& target) {
  return target.estimate ? estimated(cores, target) : renumbered(cores, target);
}

// Returns the factor by which the bytes on each core grow if the shards of missing cores move to
// the other cores.
double growth_on_fewer_cores(const CoreMask& cores, const Target& target) {
  const auto there = estimated(cores, target);
  if (renumbered(cores, target) || !there || there->count() >= cores.count()) return 1;
  return static_cast<double>(cores.count()) / there->count();
}

Why why_not_renumbered(const Target& target) {
  return target.recorded.grid_x == 0 ? Why::cores_unknown : Why::cores_missing;
}

std::uint32_t recorded_page_alignment(Kind kind, const Target& target) {
  if (target.chip == nullptr) return 0;
  return is_in_dram(kind) ? target.chip->dram_alignment : target.chip->l1_alignment;
}

bool has_the_same_pages(Kind kind, const Target& target) {
  return recorded_page_alignment(kind, target) == target.map.page_alignment(kind);
}

// Computes the bytes per bank of a sharded buffer. They do not depend on the number of banks.
void translate_shard(const RecordedRequest& request, double factor, const Target& target,
                     TranslatedRequest& translated) {
  const Kind kind = request.kind;
  const std::uint32_t alignment = target.map.page_alignment(kind);
  const std::uint64_t page = request.layout.page_bytes;
  if (!request.has_bytes_per_bank) {
    translated.why = Why::size_unknown;
  } else if (has_the_same_pages(kind, target)) {
    const std::uint64_t unit = placement::align_up(page == 0 ? alignment : page, alignment);
    translated.request.bytes_per_bank = scaled(request.bytes_per_bank, factor, unit);
  } else if (page == 0 || target.chip == nullptr) {
    translated.why = Why::page_unknown;
  } else {
    const std::uint64_t before = placement::align_up(page, recorded_page_alignment(kind, target));
    const std::uint64_t now = placement::align_up(page, alignment);
    const std::uint64_t pages = placement::divide_up(request.bytes_per_bank, before);
    translated.request.bytes_per_bank = scaled(saturating_mul(pages, now), factor, now);
  }
}

void translate_sharded(const RecordedRequest& request, const CoreMask* cores, double factor,
                       const Target& target, TranslatedRequest& translated) {
  if (is_in_dram(request.kind)) {
    const std::uint64_t last = request.layout.shard_banks != 0 ? request.layout.shard_banks
                                                               : target.recorded.dram_channels;
    if (last == 0) translated.why = Why::layout_unknown;
    if (last > target.map.dram_channels) {
      if (!target.estimate) translated.why = Why::banks_missing;
      factor *= static_cast<double>(last) / target.map.dram_channels;
    }
  } else if (cores == nullptr) {
    translated.why = Why::cores_unknown;
  } else if (!translated_cores(*cores, target)) {
    translated.why = why_not_renumbered(target);
  } else if (target.estimate) {
    factor *= growth_on_fewer_cores(*cores, target);
  }
  if (translated.why == Why::none) translate_shard(request, factor, target, translated);
}

void translate_interleaved(const RecordedRequest& request, double factor, const Target& target,
                           TranslatedRequest& translated) {
  const Kind kind = request.kind;
  const std::uint64_t banks = target.banks(kind);
  const std::uint32_t alignment = target.map.page_alignment(kind);
  std::uint64_t page = request.layout.page_bytes;
  if (request.layout.spread == Spread::interleaved && page != 0) {
    // The runtime chooses the page size of a trace by the number of banks.
    if (kind == Kind::trace) page = placement::trace_page_bytes(request.bytes, banks);
    translated.request.bytes = placement::align_up(translated.request.bytes, page);
    translated.request.bytes_per_bank =
        placement::bytes_per_bank(translated.request.bytes, page, banks, alignment);
    translated.request.has_bytes_per_bank = true;
  } else if (!request.has_bytes_per_bank) {
    translated.why = Why::size_unknown;
  } else if (request.banks == banks && has_the_same_pages(kind, target)) {
    translated.request.bytes_per_bank = scaled(request.bytes_per_bank, factor, alignment);
  } else {
    translated.why =
        request.layout.spread == Spread::unknown ? Why::layout_unknown : Why::page_unknown;
  }
}

placement::DeclaredCb declared(const recording::RecordedCb& cb, std::uint16_t columns) {
  placement::DeclaredCb as_declared;
  as_declared.cores = text::core_ranges(cb.cores, columns);
  as_declared.bytes = cb.bytes;
  if (cb.global) as_declared.global_address = cb.address;
  return as_declared;
}

std::vector<placement::DeclaredCb> declared(const recording::Layout& layout,
                                            std::uint16_t columns) {
  std::vector<placement::DeclaredCb> all;
  for (const recording::RecordedCb& cb : layout) all.push_back(declared(cb, columns));
  return all;
}

// Returns true if the recorded addresses follow from the order of the circular buffers.
bool follows_from_order(const recording::Layout& layout, const Target& target) {
  if (target.chip == nullptr || target.recorded.l1_base == 0) return false;
  const auto stacked =
      placement::stack_circular_buffers(declared(layout, target.recorded.grid_x),
                                        target.recorded.l1_base, target.chip->dram_alignment);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (stacked.addresses[i] != layout[i].address) return false;
  }
  return true;
}

// Returns one stack for each circular buffer, at its recorded address.
std::vector<placement::CbStack> stacks_as_recorded(const recording::Layout& layout,
                                                   std::uint16_t columns) {
  std::vector<placement::CbStack> stacks;
  for (const recording::RecordedCb& cb : layout) {
    if (cb.global) continue;
    for (const CoreRange& range : text::core_ranges(cb.cores, columns)) {
      stacks.push_back({range, std::uint64_t{cb.address} + cb.bytes});
    }
  }
  return stacks;
}

}  // namespace

TranslatedRequest translate(const RecordedRequest& request, const CoreMask* cores, double factor,
                            const Target& target) {
  TranslatedRequest translated{.request = request};
  if (request.kind == Kind::cb) translated.why = Why::cbs_unknown;
  if (!is_bank_kind(request.kind)) return translated;
  translated.request.cores = 0;
  translated.request.banks = static_cast<std::uint32_t>(target.banks(request.kind));
  translated.bottom_up = request.layout.direction == Direction::usual
                             ? is_in_dram(request.kind)
                             : request.layout.direction == Direction::bottom_up;
  if (request.own_banks) return {.request = request, .why = Why::sub_device};
  if (request.bytes == 0 && request.bytes_per_bank == 0) return translated;
  const std::uint64_t page = std::max<std::uint64_t>(request.layout.page_bytes, 1);
  translated.request.bytes = scaled(request.bytes, factor, page);
  const bool is_sharded = request.layout.spread == Spread::sharded || cores != nullptr;
  if (is_sharded) {
    translate_sharded(request, cores, factor, target, translated);
  } else {
    translate_interleaved(request, factor, target, translated);
  }
  if (translated.why != Why::none) {
    translated.request = request;
    return translated;
  }
  translated.is_placed = true;
  if (is_trace_in_dram(request.kind, target)) {
    translated.request.kind = Kind::dram;
    translated.bottom_up = false;
  }
  return translated;
}

bool may_grow_with_grid(const recording::Layout& layout, const Target& target) {
  const placement::Grid recorded{target.recorded.grid_x, target.recorded.grid_y};
  return recorded.x != 0 && recorded != target.grid &&
         std::any_of(layout.begin(), layout.end(), [&](const recording::RecordedCb& cb) {
           return !cb.global && is_whole_grid(cb.cores, target);
         });
}

TranslatedLayout translate(const recording::Layout& layout, const Target& target) {
  TranslatedLayout translated{.layout = layout, .why = Why::none, .stacks = {}};
  for (recording::RecordedCb& cb : translated.layout) {
    const auto cores = translated_cores(cb.cores, target);
    if (!cores) {
      translated.why = why_not_renumbered(target);
      return translated;
    }
    cb.cores = *cores;
  }
  const auto columns = static_cast<std::uint16_t>(target.grid.x);
  if (follows_from_order(layout, target)) {
    const auto stacked = placement::stack_circular_buffers(
        declared(translated.layout, columns), target.map.l1_base, target.map.dram_alignment);
    for (std::size_t i = 0; i < translated.layout.size(); ++i) {
      translated.layout[i].address = static_cast<std::uint32_t>(stacked.addresses[i]);
    }
    translated.stacks = stacked.stacks;
    return translated;
  }
  const bool same_base = target.chip != nullptr && target.recorded.l1_base == target.map.l1_base &&
                         target.chip->dram_alignment == target.map.dram_alignment;
  if (!same_base) translated.why = Why::cb_order;
  translated.stacks = stacks_as_recorded(translated.layout, columns);
  return translated;
}

}  // namespace ttmem::fit
