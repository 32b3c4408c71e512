// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/buffer_places.hpp"

#include <algorithm>

#include "base/saturating.hpp"

namespace ttmem::report {
namespace {

void count(std::uint64_t& figure, bool add) { figure = add ? figure + 1 : figure - 1; }

bool same(const std::optional<collector::BankRegion>& a,
          const std::optional<collector::BankRegion>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->range == b->range && a->step == b->step;
}

}  // namespace

BufferPlaces::BufferPlaces(const Regions& regions) {
  for (const Kind kind : kBankKinds) {
    banks_[kind].region = regions[kind];
    if (regions[kind]) banks_[kind].blocks.emplace(*regions[kind]);
  }
}

bool BufferPlaces::has(const Regions& regions) const {
  return std::all_of(kBankKinds.begin(), kBankKinds.end(),
                     [&](Kind kind) { return same(banks_[kind].region, regions[kind]); });
}

void BufferPlaces::change(const recording::RecordedRequest& request,
                          std::optional<std::uint64_t> address, const CoreMask* cores, bool add) {
  count(live_, add);
  change_banks(request, address, add);
  if (request.kind != Kind::l1 || !address) return;
  add ? lowest_l1_.add(*address, cores) : lowest_l1_.remove(*address, cores);
}

void BufferPlaces::change_banks(const recording::RecordedRequest& request,
                                std::optional<std::uint64_t> address, bool add) {
  Banks& banks = banks_[request.kind];
  count(banks.live, add);
  if (!address || !request.has_bytes_per_bank) return count(banks.unplaced, add);
  if (request.bytes_per_bank == 0) return;
  count(banks.placed, add);
  if (!banks.region) return;
  const std::uint64_t end = saturating_add(*address, request.bytes_per_bank);
  if (*address < banks.region->range.begin || end > banks.region->range.end) {
    count(banks.outside, add);
  } else if (add) {
    banks.blocks->take(*address, end);
  } else {
    banks.blocks->give_back(*address, end);
  }
}

// Returns true if buffers of the kind exist but no process stated their region.
bool BufferPlaces::is_unstated(Kind kind) const {
  const Banks& banks = banks_[kind];
  return !banks.region && (banks.unplaced > 0 || banks.placed > 0);
}

bool BufferPlaces::are_blocks_known(Kind kind) const {
  const Banks& banks = banks_[kind];
  if (!banks.region || banks.unplaced > 0 || banks.outside > 0) return false;
  if (kind == Kind::dram && is_unstated(Kind::trace)) return false;
  return kind != Kind::l1 || !is_unstated(Kind::l1_small);
}

std::optional<std::uint64_t> BufferPlaces::largest_free(Kind kind) const {
  if (!are_blocks_known(kind)) return std::nullopt;
  return banks_[kind].blocks->largest();
}

std::optional<std::uint64_t> BufferPlaces::free_bytes(Kind kind) const {
  if (!are_blocks_known(kind)) return std::nullopt;
  return banks_[kind].blocks->total();
}

}  // namespace ttmem::report
