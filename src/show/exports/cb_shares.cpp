// SPDX-License-Identifier: Apache-2.0
#include "show/exports/cb_shares.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <utility>

#include "base/limits.hpp"
#include "read/recording/playback/placed_programs.hpp"

namespace ttmem::exports {
namespace {

// The begin or end of a circular buffer on a core.
struct Bound {
  std::uint64_t address = 0;
  std::size_t sharer = 0;
  int step = 0;  // +1 for a begin, -1 for an end

  friend auto operator<=>(const Bound&, const Bound&) = default;
};
using Bounds = std::vector<Bound>;

// Groups the cores by their bounds, because most cores have equal bounds. Returns the number of
// cores in each group.
std::map<Bounds, std::uint64_t> classes_of(const recording::RecordedDevice& device,
                                           const std::vector<Sharer>& sharers) {
  // Bytes outside L1 or the grid are not counted, as in the tracker.
  const CoreMask grid = CoreMask::first(recording::core_count(device));
  const std::uint64_t l1_end =
      device.l1_bytes_per_core != 0 ? device.l1_bytes_per_core : kMaxCoreBytes;

  std::array<Bounds, kMaxCores> cores;
  for (std::size_t i = 0; i < sharers.size(); ++i) {
    for (const recording::RecordedCb& cb : *sharers[i].layout) {
      const std::uint64_t end = std::min(std::uint64_t{cb.address} + cb.bytes, l1_end);
      if (cb.global || end <= cb.address) continue;
      (cb.cores & grid).for_each([&](std::uint32_t core) {
        cores[core].push_back({cb.address, i, 1});
        cores[core].push_back({end, i, -1});
      });
    }
  }
  std::map<Bounds, std::uint64_t> classes;
  for (Bounds& bounds : cores) {
    std::sort(bounds.begin(), bounds.end());
    if (!bounds.empty()) ++classes[std::move(bounds)];
  }
  return classes;
}

// Divides `bytes` among the programs whose circular buffers cover these bytes.
void divide(std::uint64_t bytes, const std::map<std::size_t, int>& covering,
            const std::vector<Sharer>& sharers, std::vector<std::uint64_t>& shares) {
  std::uint64_t programs = 0;
  for (const auto& [sharer, depth] : covering) programs += sharers[sharer].programs;
  if (programs == 0) return;
  std::uint64_t rest = bytes % programs;
  for (const auto& [sharer, depth] : covering) {
    const std::uint64_t extra = std::min(rest, sharers[sharer].programs);
    shares[sharer] += bytes / programs * sharers[sharer].programs + extra;
    rest -= extra;
  }
}

// Computes cb_shares() for sharers whose layouts are all different.
std::vector<std::uint64_t> shares_of_different(const recording::RecordedDevice& device,
                                               const std::vector<Sharer>& sharers) {
  std::vector<std::uint64_t> shares(sharers.size());
  for (const auto& [bounds, cores] : classes_of(device, sharers)) {
    // Maps each sharer to the number of its circular buffers that cover the addresses from `from`
    // to the current bound. Circular buffers of one sharer may overlap.
    std::map<std::size_t, int> covering;
    std::uint64_t from = 0;
    for (const Bound& bound : bounds) {
      if (bound.address > from) divide((bound.address - from) * cores, covering, sharers, shares);
      from = bound.address;
      int& depth = covering[bound.sharer];
      depth += bound.step;
      if (depth == 0) covering.erase(bound.sharer);
    }
  }
  return shares;
}

}  // namespace

std::vector<std::uint64_t> cb_shares(const recording::RecordedDevice& device,
                                     const std::vector<Sharer>& sharers) {
  std::vector<Sharer> different;
  std::map<const recording::Layout*, std::size_t> place;
  for (const Sharer& sharer : sharers) {
    const auto [at, is_new] = place.try_emplace(sharer.layout, different.size());
    if (is_new) different.push_back({sharer.layout, 0});
    different[at->second].programs += sharer.programs;
  }
  std::vector<std::uint64_t> left = shares_of_different(device, different);
  std::vector<std::uint64_t> shares;
  for (const Sharer& sharer : sharers) {
    const std::size_t at = place[sharer.layout];
    std::uint64_t& programs = different[at].programs;
    // Gives each sharer its part of the bytes that are left for the layout, so that the last sharer
    // gets all remaining bytes.
    const std::uint64_t share = programs == 0 ? 0
                                              : left[at] / programs * sharer.programs +
                                                    std::min(left[at] % programs, sharer.programs);
    shares.push_back(share);
    left[at] -= share;
    programs -= sharer.programs;
  }
  return shares;
}

std::uint64_t cb_bytes(const recording::RecordedDevice& device, const recording::Layout& layout) {
  return cb_shares(device, {{.layout = &layout, .programs = 1}}).front();
}

}  // namespace ttmem::exports
