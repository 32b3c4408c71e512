// SPDX-License-Identifier: Apache-2.0
//
// Who lies where in the L1 of one core. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::tui {

// A range of addresses that a living process holds. The same circular buffer of many cached
// programs is one span.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Kind kind = Kind::l1;  // l1, l1_small or cb
  model::ProcessKey process;
  std::string owner;           // the process: its pid and name
  std::string what;            // label of a buffer, program of a CB
  std::uint32_t programs = 0;  // of a CB: how many have it there
  bool elsewhere = false;      // of a buffer: its bytes lie on other cores (lockstep)
};

// L1 of one core: reserved below `base`, CBs from there up, L1 buffers from `small_begin` down,
// L1_SMALL between there and `end`.
struct CoreMap {
  model::Bytes end;
  model::Bytes base;
  model::Bytes small_begin;
  std::vector<Span> spans;  // the highest address first
  // Between the end of the CBs and the lowest L1 buffer; `free_end` below `free_begin` is a clash.
  model::Bytes free_begin;
  model::Bytes free_end;
  std::uint64_t without_address = 0;  // buffers that may lie here: no address was reported
  std::uint64_t views = 0;            // CBs that are views on L1 buffers, and take no memory
};

// `device` is an index into the snapshot, `core` one of its cores (y * columns + x).
[[nodiscard]] CoreMap core_map(const model::Snapshot& snapshot, std::size_t device,
                               std::uint32_t core);

// What covers a band of addresses.
// `lockstep` is taken here for bytes on other cores.
enum class Cover : std::uint8_t { free, reserved, cb, l1, l1_small, lockstep, clash };

[[nodiscard]] Cover cover_of(const Span& span);

// The L1 of a core in `bands` equal parts, the lowest addresses first, and what covers any of each.
// Empty when the size of L1 is unknown.
[[nodiscard]] std::vector<Cover> bands_of(const CoreMap& map, int bands);

}  // namespace ttmem::tui
