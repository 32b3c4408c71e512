// SPDX-License-Identifier: Apache-2.0
//
// Computes what a request of the recording would be on the other board. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/fit/fit.hpp"
#include "analyse/fit/target.hpp"
#include "base/core_mask.hpp"
#include "read/placement/cb_stacking.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::fit {

struct TranslatedRequest {
  recording::RecordedRequest request;  // with the sizes on the other board, without cores
  Why why = Why::none;                 // why the request cannot be translated
  // True: the allocator places the request. False: the bytes of the request are only counted, as
  // for a kernel.
  bool is_placed = false;
  bool bottom_up = false;
};

// Translates a request into the request on the other board. `cores` are the cores of a sharded
// buffer in L1, or null if they are unknown. `factor` multiplies the size of the request.
[[nodiscard]] TranslatedRequest translate(const recording::RecordedRequest& request,
                                          const CoreMask* cores, double factor,
                                          const Target& target);

// Returns true if `kind` is a trace and the board has no trace region. Traces then lie at the upper
// end of DRAM.
[[nodiscard]] inline bool is_trace_in_dram(Kind kind, const Target& target) {
  return kind == Kind::trace && target.map.trace_region_bytes == 0;
}

struct TranslatedLayout {
  recording::Layout layout;
  Why why = Why::none;
  // Stacks of CBs, which the runtime compares with L1 buffers.
  std::vector<placement::CbStack> stacks;
};

[[nodiscard]] TranslatedLayout translate(const recording::Layout& layout, const Target& target);

// Returns true if a circular buffer of the layout lay on the whole grid of the recorded device, and
// the grid of the board has another size.
[[nodiscard]] bool may_grow_with_grid(const recording::Layout& layout, const Target& target);

}  // namespace ttmem::fit
