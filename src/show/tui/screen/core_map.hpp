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

// A range of addresses that a living process holds. Circular buffers of several programs share one
// span if their process, address and size are equal.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Kind kind = Kind::l1;  // l1, l1_small or cb
  model::ProcessKey process;
  std::string owner;  // pid and name of the process
  // For a buffer: its label. For a circular buffer: its program, or the number of its programs.
  std::string what;
  // For a circular buffer: the number of programs that use this range. For a buffer: 0.
  std::uint32_t programs = 0;
  // True for a buffer that takes this range only because of lockstep: its data is on other cores.
  bool elsewhere = false;
};

// The L1 of one core, from low to high addresses: a reserved part that ends at `base`, circular
// buffers placed upwards from `base`, L1 buffers placed downwards from `small_begin`, and L1_SMALL
// from `small_begin` to `end`.
struct CoreMap {
  model::Bytes end;
  model::Bytes base;
  model::Bytes small_begin;
  std::vector<Span> spans;  // highest address first
  // The free range between the end of the circular buffers and the lowest L1 buffer. If `free_end`
  // is less than `free_begin`, circular buffers and L1 buffers clash.
  model::Bytes free_begin;
  model::Bytes free_end;
  // Number of buffers that may be on this core, but whose addresses were not reported.
  std::uint64_t without_address = 0;
  // Number of circular buffers that are views of L1 buffers and therefore take no memory of their
  // own.
  std::uint64_t views = 0;
};

// Returns the map of a core. `device` is an index into the snapshot's devices, `core` an index into
// the device's cores (y * columns + x).
[[nodiscard]] CoreMap core_map(const model::Snapshot& snapshot, std::size_t device,
                               std::uint32_t core);

// The use of a range of addresses. `lockstep` means that a buffer takes the range on this core,
// although its data is on other cores.
enum class Cover : std::uint8_t { free, reserved, cb, l1, l1_small, lockstep, clash };

[[nodiscard]] Cover cover_of(const Span& span);

// Divides the L1 of a core into `bands` equal parts, lowest addresses first, and returns the use of
// each part. Returns an empty list if the size of L1 is unknown.
[[nodiscard]] std::vector<Cover> bands_of(const CoreMap& map, int bands);

}  // namespace ttmem::tui
