// SPDX-License-Identifier: Apache-2.0
//
// The figures of one kind of memory on one device. The segment and the model use the same
// structure: a segment contains the figures of one process, and the model contains sums over
// processes. To add a figure, add a field and a row of kFigures; readers and totals iterate over
// kFigures.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/kinds.hpp"
#include "base/saturating.hpp"

namespace ttmem {

struct KindFigures {
  // Sum of the physical sizes. An allocation with unknown bytes per bank counts with its logical
  // size.
  std::uint64_t used_bytes = 0;
  std::uint64_t peak_bytes = 0;     // maximum of used_bytes
  std::uint64_t logical_bytes = 0;  // sum of the requested sizes
  std::uint64_t live = 0;  // number of live allocations; for `cb`: of live CBs without an address
  std::uint64_t unsized = 0;      // number of live allocations with unknown bytes per bank
  std::uint64_t allocations = 0;  // total number of allocations
  std::uint64_t frees = 0;        // total number of frees
  // Bit i is set if kFigures[i] is known. In a segment, either all bits are set (the process
  // reports this kind) or none.
  std::uint64_t known = 0;

  using Figure = std::uint64_t KindFigures::*;
  // Returns the figure, or nullopt if it is unknown.
  [[nodiscard]] constexpr std::optional<std::uint64_t> get(Figure figure) const noexcept;
  constexpr void set(Figure figure, std::optional<std::uint64_t> value) noexcept;

  friend constexpr bool operator==(const KindFigures&, const KindFigures&) = default;
};

// Segments contain this structure, so its size is fixed (docs/internals/segment-layout.md).
static_assert(sizeof(KindFigures) == 64);
static_assert(offsetof(KindFigures, used_bytes) == 0);
static_assert(offsetof(KindFigures, peak_bytes) == 8);
static_assert(offsetof(KindFigures, logical_bytes) == 16);
static_assert(offsetof(KindFigures, live) == 24);
static_assert(offsetof(KindFigures, unsized) == 32);
static_assert(offsetof(KindFigures, allocations) == 40);
static_assert(offsetof(KindFigures, frees) == 48);
static_assert(offsetof(KindFigures, known) == 56);

// How a figure of several processes is combined.
enum class Merge : std::uint8_t { sum, peak };

struct FigureInfo {
  KindFigures::Figure value;
  Merge merge;
};

inline constexpr std::array<FigureInfo, 7> kFigures = {{
    {&KindFigures::used_bytes, Merge::sum},
    {&KindFigures::peak_bytes, Merge::peak},
    {&KindFigures::logical_bytes, Merge::sum},
    {&KindFigures::live, Merge::sum},
    {&KindFigures::unsized, Merge::sum},
    {&KindFigures::allocations, Merge::sum},
    {&KindFigures::frees, Merge::sum},
}};
inline constexpr std::uint64_t kAllFigures = (std::uint64_t{1} << kFigures.size()) - 1;

[[nodiscard]] constexpr std::uint64_t known_bit(KindFigures::Figure figure) noexcept {
  std::size_t i = 0;
  while (kFigures[i].value != figure) ++i;
  return std::uint64_t{1} << i;
}

constexpr std::optional<std::uint64_t> KindFigures::get(Figure figure) const noexcept {
  return (known & known_bit(figure)) != 0 ? std::optional(this->*figure) : std::nullopt;
}

constexpr void KindFigures::set(Figure figure, std::optional<std::uint64_t> value) noexcept {
  this->*figure = value.value_or(0);
  known = value ? known | known_bit(figure) : known & ~known_bit(figure);
}

inline constexpr std::uint64_t kPeaks = known_bit(&KindFigures::peak_bytes);

// Adds the figures of one more process to `total`. A process that does not report a kind adds
// nothing to that kind, and a kind that no process reports stays unknown. A sum is unknown if the
// figure of any process that reports the kind is unknown. A peak is the largest known peak.
constexpr void merge(PerKind<KindFigures>& total, const PerKind<KindFigures>& part) noexcept {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    KindFigures& sum = total.items[kind];
    const KindFigures& more = part.items[kind];
    if (more.known == 0) continue;
    if (sum.known == 0) {
      sum = more;
      continue;
    }
    const std::uint64_t before = sum.known;
    sum.known = (before & more.known & ~kPeaks) | ((before | more.known) & kPeaks);
    for (std::uint64_t bits = sum.known | before; bits != 0; bits &= bits - 1) {
      const FigureInfo& figure = kFigures[static_cast<std::size_t>(std::countr_zero(bits))];
      std::uint64_t& value = sum.*figure.value;
      // An unknown peak is 0, so it is never the larger peak.
      value = figure.merge == Merge::peak ? std::max(value, more.*figure.value)
                                          : saturating_add(value, more.*figure.value);
      if ((sum.known & (bits & -bits)) == 0) value = 0;
    }
  }
}

// Returns the physical bytes, or nullopt if the bytes per bank of any allocation are unknown.
[[nodiscard]] constexpr std::optional<std::uint64_t> physical_bytes(const KindFigures& figures) {
  return figures.get(&KindFigures::unsized) == 0U ? figures.get(&KindFigures::used_bytes)
                                                  : std::nullopt;
}

// Returns the sum of `figure` over the reported kinds in `kinds`. Returns nullopt if none of
// `kinds` is reported, or if the figure of a reported kind is unknown.
template <typename Kinds>
[[nodiscard]] constexpr std::optional<std::uint64_t> sum_of(const PerKind<KindFigures>& of,
                                                            const Kinds& kinds,
                                                            KindFigures::Figure figure) {
  std::optional<std::uint64_t> sum;
  for (const Kind kind : kinds) {
    if (of[kind].known == 0) continue;
    const std::optional<std::uint64_t> part = of[kind].get(figure);
    if (!part) return std::nullopt;
    sum = saturating_add(sum.value_or(0), *part);
  }
  return sum;
}

// Returns the number of live buffers and kernels, without CBs. Returns nullopt like sum_of().
[[nodiscard]] constexpr std::optional<std::uint64_t> live_allocations(
    const PerKind<KindFigures>& of) {
  constexpr std::array kinds = {Kind::dram,  Kind::l1,     Kind::l1_small,
                                Kind::trace, Kind::kernel, Kind::system};
  return sum_of(of, kinds, &KindFigures::live);
}

}  // namespace ttmem
