// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/bank.hpp"

#include <algorithm>
#include <utility>

#include "read/placement/align.hpp"

namespace ttmem::explain {
namespace {

using placement::FreeList;

// Marks the range of each holder as occupied. Returns false if two ranges overlap, or if a range
// lies outside of the region.
bool occupy(FreeList& space, std::span<const BufferHolder> holders, std::uint64_t shift) {
  return std::all_of(holders.begin(), holders.end(), [&](const BufferHolder& holder) {
    return space.occupy(holder.address + shift, holder.bytes_per_bank);
  });
}

FreeList empty_space(const collector::BankRegion& region, std::uint64_t more = 0) {
  return {region.range.begin, region.range.end - region.range.begin + more,
          static_cast<std::uint32_t>(region.step)};
}

}  // namespace

std::optional<Bank> Bank::make(Kind kind, const collector::BankRegion& region,
                               std::span<const BufferHolder> holders) {
  FreeList space = empty_space(region);
  if (!occupy(space, holders, 0)) return std::nullopt;
  return Bank(kind, region, holders, std::move(space));
}

Bank::Bank(Kind kind, const collector::BankRegion& region, std::span<const BufferHolder> holders,
           FreeList space)
    : bottom_up_(is_in_dram(kind)), region_(region), holders_(holders), space_(std::move(space)) {
  const FreeList::Statistics statistics = space_.statistics();
  free_bytes_ = statistics.free_bytes;
  largest_free_ = statistics.largest_free_block_bytes;
}

// If a run is freed, one free block reaches from the holder before the run to the holder after the
// run. For each last holder, the loop looks only at the shortest run that suffices, because a
// longer run frees more than needed.
std::optional<Bank::Run> Bank::smallest_run(std::uint64_t request) const {
  const std::uint64_t needed =
      placement::align_up(std::max<std::uint64_t>(request, 1), region_.step);
  const auto block = [&](std::size_t first, std::size_t end) {
    const std::uint64_t from = first == 0 ? region_.range.begin : holders_[first - 1].end();
    const std::uint64_t to = end == holders_.size() ? region_.range.end : holders_[end].address;
    return to - from;
  };
  std::optional<Run> best;
  std::size_t first = 0;
  std::uint64_t bytes = 0;
  for (std::size_t end = 1; end <= holders_.size(); ++end) {
    bytes += holders_[end - 1].bytes_per_bank;
    while (first + 1 < end && block(first + 1, end) >= needed) {
      bytes -= holders_[first++].bytes_per_bank;
    }
    const std::size_t count = end - first;
    if (block(first, end) < needed) continue;
    if (!best || std::pair(count, bytes) < std::pair(best->count, best->bytes)) {
      best = Run{first, count, bytes};
    }
  }
  if (!best) return best;
  FreeList space = space_;
  for (const BufferHolder& holder : holders_.subspan(best->first, best->count)) {
    space.deallocate(holder.address);
  }
  return space.allocate(request, bottom_up_) ? best : std::nullopt;
}

FreeList Bank::after_moving(const Run& run) const {
  FreeList space = space_;
  for (std::size_t i = 0; i < run.count; ++i) {
    const std::size_t next = bottom_up_ ? run.first + i : run.first + run.count - 1 - i;
    space.deallocate(holders_[next].address);
    // Ignores the result, because the holder fits at least into its old place.
    (void)space.allocate(holders_[next].bytes_per_bank, bottom_up_);
  }
  return space;
}

bool Bank::fits_after_moving(const Run& run, std::uint64_t request) const {
  return after_moving(run).allocate(request, bottom_up_).has_value();
}

bool Bank::clears_after_moving(const Run& run, std::uint64_t lowest) const {
  return after_moving(run).lowest_occupied_address().value_or(lowest) >= lowest;
}

bool Bank::fits_when_first(std::uint64_t request) const {
  const bool has_order =
      holders_.size() < 2 || std::all_of(holders_.begin(), holders_.end(),
                                         [](const BufferHolder& holder) { return holder.age_ns; });
  if (!has_order) return false;
  FreeList space = empty_space(region_);
  if (!space.allocate(request, bottom_up_)) return false;
  std::vector<const BufferHolder*> by_age;
  by_age.reserve(holders_.size());
  for (const BufferHolder& holder : holders_) by_age.push_back(&holder);
  std::stable_sort(by_age.begin(), by_age.end(), [](const BufferHolder* a, const BufferHolder* b) {
    return a->age_ns > b->age_ns;
  });
  return std::all_of(by_age.begin(), by_age.end(), [&](const BufferHolder* holder) {
    return space.allocate(holder->bytes_per_bank, bottom_up_).has_value();
  });
}

bool Bank::fits_with_more(std::uint64_t more, std::uint64_t request) const {
  FreeList space = empty_space(region_, more);
  return occupy(space, holders_, bottom_up_ ? 0 : more) &&
         space.allocate(request, bottom_up_).has_value();
}

std::uint64_t Bank::missing_at_the_end(std::uint64_t request) const {
  const std::uint64_t needed =
      placement::align_up(std::max<std::uint64_t>(request, 1), region_.step);
  std::uint64_t last = region_.range.end - region_.range.begin;
  if (!holders_.empty()) {
    last = bottom_up_ ? region_.range.end - holders_.back().end()
                      : holders_.front().address - region_.range.begin;
  }
  return needed - std::min(needed, last);
}

std::optional<Bank> bank_of(const DeviceMemory& memory, Kind kind) {
  const auto& region = memory.regions[kind];
  if (!region || memory.without_address[kind] != 0) return std::nullopt;
  return Bank::make(kind, *region, memory.holders[kind]);
}

}  // namespace ttmem::explain
