// SPDX-License-Identifier: Apache-2.0
//
// What a request of the recording would be on the other board. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/fit/fit.hpp"
#include "analyse/fit/target.hpp"
#include "base/core_mask.hpp"
#include "read/placement/cb_stacking.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::fit {

struct CarriedRequest {
  recording::Request request;  // its sizes there; its cores are left out
  Why why = Why::none;         // it cannot be carried over
  bool is_placed = false;      // the allocator places it; else it only counts, as kernels do
  bool bottom_up = false;
};

// `cores`: of a sharded buffer in L1; null: none are known. `factor`: it is so many times as large.
[[nodiscard]] CarriedRequest carry(const recording::Request& request, const CoreMask* cores,
                                   double factor, const Target& target);

// Without a region for them, traces lie in DRAM, at its upper end.
[[nodiscard]] inline bool is_trace_in_dram(Kind kind, const Target& target) {
  return kind == Kind::trace && target.map.trace_region_bytes == 0;
}

struct CarriedLayout {
  recording::Layout layout;
  Why why = Why::none;
  std::vector<placement::CbStack> stacks;  // what the runtime compares with L1 buffers
};

[[nodiscard]] CarriedLayout carry(const recording::Layout& layout, const Target& target);

}  // namespace ttmem::fit
