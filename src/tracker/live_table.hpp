// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "segment/segment_writer.hpp"

namespace ttmem::tracker {

// A live buffer, kernel or CB without an address, as the tracker needs it to take it away again.
struct LiveAllocation {
  std::uint64_t id = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t logical_bytes = 0;
  std::uint32_t slot = segment::kNoSlot;
  // Of a CB without an address: each wants its own free. Of anything else 1. 0: an empty place.
  std::uint16_t reports = 0;
  std::uint8_t role = 0;  // of a kernel
  bool is_unsized : 1 = false;
  bool is_estimate : 1 = false;
};
static_assert(sizeof(LiveAllocation) == 32, "two in a cache line");

// Live allocations by id. Open addressing with linear probing; what follows an erased entry moves
// up, so there are no tombstones. By hand, because an entry is found and erased soon after it was
// inserted: boost::unordered_flat_map then loads 16 bytes that it has just stored one of, which
// stalls (insert, find and erase: 21 ns, here 3).
//
// Pointers are valid until the next insert or erase. Not thread-safe.
class LiveTable {
 public:
  [[nodiscard]] LiveAllocation* find(std::uint64_t id) noexcept {
    if (places_.empty()) return nullptr;
    LiveAllocation& place = place_of(id);
    return place.reports != 0 ? &place : nullptr;
  }

  // The entry of that id, and whether it is new: then it has one report and nothing else. May
  // throw std::bad_alloc, and then has changed nothing.
  [[nodiscard]] std::pair<LiveAllocation*, bool> insert(std::uint64_t id) {
    // At most a quarter full: the first place is nearly always the right one, and the branch is
    // predicted.
    if (places_.size() < 4 * (size_ + 1)) [[unlikely]] {
      grow();
    }
    LiveAllocation& place = place_of(id);
    if (place.reports != 0) return {&place, false};
    place = LiveAllocation{.id = id, .reports = 1};
    ++size_;
    return {&place, true};
  }

  void erase(LiveAllocation* entry) noexcept {
    auto hole = static_cast<std::size_t>(entry - places_.data());
    for (std::size_t at = next(hole); places_[at].reports != 0; at = next(at)) {
      // An entry may fill the hole when its own first place is not behind the hole.
      const std::size_t from_home = (at - home_of(places_[at].id)) & mask();
      if (from_home < ((at - hole) & mask())) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole].reports = 0;
    --size_;
  }

  void clear() noexcept {
    places_.clear();
    size_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const LiveAllocation& place : places_) {
      if (place.reports != 0) visit(place);
    }
  }

 private:
  static constexpr std::size_t kFirstPlaces = 64;

  [[nodiscard]] std::size_t mask() const noexcept { return places_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t place) const noexcept { return (place + 1) & mask(); }

  // The high bits of a product: ids are counters or aligned addresses, whose low bits repeat. The
  // table's address makes the places of chosen ids unpredictable.
  [[nodiscard]] std::size_t home_of(std::uint64_t id) const noexcept {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    const auto salt = reinterpret_cast<std::uintptr_t>(this);
    return static_cast<std::size_t>(((id ^ salt) * golden_ratio) >> shift_);
  }

  // Where `id` is, or the empty place where it would go.
  [[nodiscard]] LiveAllocation& place_of(std::uint64_t id) noexcept {
    std::size_t at = home_of(id);
    while (places_[at].reports != 0 && places_[at].id != id) at = next(at);
    return places_[at];
  }

  void grow() {
    std::vector<LiveAllocation> old(places_.empty() ? kFirstPlaces : 2 * places_.size());
    old.swap(places_);
    shift_ = 64 - std::countr_zero(places_.size());
    for (const LiveAllocation& entry : old) {
      if (entry.reports != 0) place_of(entry.id) = entry;
    }
  }

  std::vector<LiveAllocation> places_;  // a power of two, or none
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace ttmem::tracker
