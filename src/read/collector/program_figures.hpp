// SPDX-License-Identifier: Apache-2.0
// Computes the memory that the CBs of programs take. Pure functions. Globally allocated CBs are
// views of L1 buffers and take no memory of their own. Their bytes count only as L1 buffers.
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
  // Returns false, and spends nothing, if fewer steps are left.
  [[nodiscard]] bool spend(std::uint64_t steps) {
    if (steps > left_) return false;
    left_ -= steps;
    return true;
  }

 private:
  std::uint64_t left_;
};

struct FootprintFigures {
  std::uint32_t cores = 0;           // number of cores with any of the CBs, global CBs included
  std::uint64_t bytes_per_core = 0;  // maximum over the cores; CBs that overlap count once
  std::uint64_t physical_bytes = 0;  // sum over the cores; CBs that overlap count once
  std::uint64_t logical_bytes = 0;
};

// Returns nullopt if the work exceeds `budget`. The work is the number of CBs times the number of
// classes of cores (partition_cores()).
[[nodiscard]] std::optional<FootprintFigures> footprint_figures(
    const segment::LiveFootprint& footprint, WorkBudget& budget);

// A footprint, and the number of live programs of one process that have this footprint on one
// device.
struct FootprintUse {
  const segment::LiveFootprint* footprint = nullptr;
  std::uint64_t programs = 0;
};

// Returns, for each use, the bytes that a program with this footprint holds alone on the device. No
// other program in `uses` has CBs at these addresses, so the end of the program would free these
// bytes. The figure is 0 if two programs share the footprint.
// Example: A has [0, 100) and B has [60, 140) on the same 64 cores. A alone holds 60 * 64 bytes, B
// alone holds 40 * 64 bytes.
// Returns nullopt if the work, counted as in footprint_figures(), exceeds `budget`.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> exclusive_bytes(
    std::span<const FootprintUse> uses, WorkBudget& budget);

}  // namespace ttmem::collector
