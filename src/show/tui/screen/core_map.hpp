// SPDX-License-Identifier: Apache-2.0
//
// The map of one core's L1. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::tui {

// A range of addresses that a living process holds. If many cached programs use the same circular
// buffer, they share one span.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Kind kind = Kind::l1;  // l1, l1_small or cb
  model::ProcessKey process;
  std::string owner;           // pid and name of the process
  std::string what;            // label of the buffer, or program of the circular buffer
  std::uint32_t programs = 0;  // circular buffer: number of programs that use this range
  bool elsewhere = false;      // buffer: the data is on other cores (lockstep)
};

// The L1 of one core, from low to high addresses: a reserved part below `base`, circular buffers
// upwards from `base`, L1 buffers downwards from `small_begin`, and L1_SMALL from `small_begin` to
// `end`.
struct CoreMap {
  model::Bytes end;
  model::Bytes base;
  model::Bytes small_begin;
  std::vector<Span> spans;  // highest address first
  // The free range between the end of the circular buffers and the lowest L1 buffer. `free_end`
  // below `free_begin` is a clash.
  model::Bytes free_begin;
  model::Bytes free_end;
  // Buffers that may be on this core; their addresses were not reported.
  std::uint64_t without_address = 0;
  std::uint64_t views = 0;  // circular buffers that are views of L1 buffers and take no memory
};

// Returns the map of a core. `device` is an index into the snapshot, `core` an index into its cores
// (y * columns + x).
[[nodiscard]] CoreMap core_map(const model::Snapshot& snapshot, std::size_t device,
                               std::uint32_t core);

// The use of a range of addresses. `lockstep`: the range is taken here for data on other cores.
enum class Cover : std::uint8_t { free, reserved, cb, l1, l1_small, lockstep, clash };

[[nodiscard]] Cover cover_of(const Span& span);

// Divides the L1 of a core into `bands` equal parts, lowest addresses first, and returns the use of
// each part. Returns an empty list if the size of L1 is unknown.
[[nodiscard]] std::vector<Cover> bands_of(const CoreMap& map, int bands);

}  // namespace ttmem::tui
