// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ttmem {

// The anomalies since the process started: calls that contradict earlier calls. An anomaly is never
// fatal. Only `overlapping_buffers` does not count calls: readers set it to the number of live
// buffers that overlap another buffer at this moment. In a segment it is 0.
struct Anomalies {
  std::uint64_t unknown_frees = 0;
  std::uint64_t allocs_over_live = 0;
  std::uint64_t overlapping_buffers = 0;
  // Programs that were dispatched, or replayed in a trace, but are not placed.
  std::uint64_t unknown_programs = 0;
  // Calls with a CB outside L1, a core outside the grid, or an invalid type.
  std::uint64_t bad_arguments = 0;
  std::uint64_t left_at_close = 0;  // allocations still live when their device was closed
  std::uint64_t left_at_close_bytes = 0;

  friend constexpr bool operator==(const Anomalies&, const Anomalies&) = default;
};

// Segments contain this structure, so its size is fixed (docs/internals/segment-layout.md).
static_assert(sizeof(Anomalies) == 56);
static_assert(offsetof(Anomalies, unknown_frees) == 0);
static_assert(offsetof(Anomalies, allocs_over_live) == 8);
static_assert(offsetof(Anomalies, overlapping_buffers) == 16);
static_assert(offsetof(Anomalies, unknown_programs) == 24);
static_assert(offsetof(Anomalies, bad_arguments) == 32);
static_assert(offsetof(Anomalies, left_at_close) == 40);
static_assert(offsetof(Anomalies, left_at_close_bytes) == 48);

inline constexpr std::array<std::uint64_t Anomalies::*, 7> kAnomalies = {
    &Anomalies::unknown_frees,       &Anomalies::allocs_over_live, &Anomalies::overlapping_buffers,
    &Anomalies::unknown_programs,    &Anomalies::bad_arguments,    &Anomalies::left_at_close,
    &Anomalies::left_at_close_bytes,
};

}  // namespace ttmem
