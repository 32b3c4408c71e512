// SPDX-License-Identifier: Apache-2.0
#include "track/ledger/footprint.hpp"

#include <algorithm>

namespace ttmem::ledger {
namespace {

// Splits each part if some, but not all, of its cores are in `cores`.
void refine(std::vector<Footprint::Part>& parts, const CoreMask& cores) {
  for (std::size_t i = 0, count = parts.size(); i < count; ++i) {
    const CoreMask inside = parts[i].cores & cores;
    const CoreMask outside = parts[i].cores - cores;
    if (inside.empty() || outside.empty()) continue;
    parts[i].cores = inside;
    parts.push_back({outside, {}, 0});
  }
}

std::vector<Interval> merged(std::vector<Interval> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& range : ranges) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

}  // namespace

Footprint make_footprint(std::vector<Cb> cbs) {
  Footprint footprint;
  footprint.cbs = std::move(cbs);
  for (const Cb& cb : footprint.cbs) {
    footprint.cores |= cb.cores;
    footprint.clipped |= cb.clipped;
    if (!cb.global) footprint.logical_bytes += std::uint64_t{cb.cores.count()} * cb.range.length();
  }
  footprint.core_count = footprint.cores.count();
  if (footprint.core_count > 0) footprint.parts.push_back({footprint.cores, {}, 0});
  for (const Cb& cb : footprint.cbs) refine(footprint.parts, cb.cores);
  for (Footprint::Part& part : footprint.parts) {
    std::vector<Interval> ranges;
    for (const Cb& cb : footprint.cbs) {
      if (cb.global || cb.range.length() == 0) continue;
      if (cb.cores.test(part.cores.lowest())) ranges.push_back(cb.range);
    }
    part.ranges = merged(std::move(ranges));
    for (const Interval& range : part.ranges) part.bytes += range.length();
  }
  return footprint;
}

std::uint64_t FootprintTable::hash_of(std::span<const std::uint64_t> key) noexcept {
  // Multiplies and folds the words of the key. A simple hash suffices, because the table compares
  // the keys of equal hashes. A library's hash function would read the key byte by byte.
  std::uint64_t hash = key.size();
  for (std::uint64_t word : key) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

Footprint* FootprintTable::find(std::uint64_t hash, std::span<const std::uint64_t> key) noexcept {
  for (auto it = by_hash_.find(hash); it != by_hash_.end(); it = by_hash_.find(++hash)) {
    if (std::equal(key.begin(), key.end(), it->second->key.begin(), it->second->key.end())) {
      return it->second.get();
    }
  }
  return nullptr;
}

Footprint* FootprintTable::insert(std::uint64_t hash, std::span<const std::uint64_t> key,
                                  std::vector<Cb> cbs) {
  auto footprint = std::make_unique<Footprint>(make_footprint(std::move(cbs)));
  footprint->key.assign(key.begin(), key.end());
  while (by_hash_.contains(hash)) ++hash;
  footprint->hash = hash;
  Footprint* result = footprint.get();
  by_hash_.emplace(hash, std::move(footprint));
  if (published_) published_(*result);
  return result;
}

void FootprintTable::release(Footprint* footprint) noexcept {
  if (--footprint->references > 0) return;
  if (retired_) retired_(*footprint);
  by_hash_.erase(footprint->hash);
}

}  // namespace ttmem::ledger
