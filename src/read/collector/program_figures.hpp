// SPDX-License-Identifier: Apache-2.0
//
// What the CBs of programs take. Pure functions. Globally allocated CBs take nothing: they are
// views on L1 buffers, which are counted as such.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// Limits the work of a pass. Programs of real workloads have few core sets and need thousands of
// steps; a hostile segment could ask for billions.
class WorkBudget {
 public:
  explicit WorkBudget(std::uint64_t steps) : left_(steps) {}
  // False, and nothing is spent, when less than that is left.
  [[nodiscard]] bool spend(std::uint64_t steps) {
    if (steps > left_) return false;
    left_ -= steps;
    return true;
  }

 private:
  std::uint64_t left_;
};

struct FootprintFigures {
  std::uint32_t cores = 0;           // that have any of the CBs, also a global one
  std::uint64_t bytes_per_core = 0;  // the most on one core: union of the CBs
  std::uint64_t physical_bytes = 0;  // the unions of all cores
  std::uint64_t logical_bytes = 0;
};

// None when it is more work than `budget` has: the number of CBs times the number of classes of
// cores (partition_cores).
[[nodiscard]] std::optional<FootprintFigures> footprint_figures(const segment::Footprint& footprint,
                                                                WorkBudget& budget);

// A footprint and how many live programs of one process have it on one device.
struct FootprintUse {
  const segment::Footprint* footprint = nullptr;
  std::uint64_t programs = 0;
};

// For each use, the bytes that a program with it holds alone on that device: no other program's
// CBs are there, so its end would free them. 0 when two programs share the footprint.
//
// Example: A has [0, 100) and B has [60, 140) on the same 64 cores: A alone holds 60 * 64 bytes
// and B alone 40 * 64.
//
// None when it is more work than `budget` has, counted as for footprint_figures().
[[nodiscard]] std::optional<std::vector<std::uint64_t>> exclusive_bytes(
    std::span<const FootprintUse> uses, WorkBudget& budget);

}  // namespace ttmem::collector
