// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/kinds.hpp"
#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

// The data that AllocationTracker needs to release an allocation: the allocation's share of the
// figures, and its slot. AllocationTracker::allocate() fills the receipt, and the caller keeps it.
struct Receipt {
  std::uint64_t id = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t logical_bytes = 0;
  std::uint32_t slot = segment::kNoSlot;  // kNoSlot: the segment had no room for a slot
  Kind kind = Kind::dram;
  std::uint8_t role : 2 = 0;  // ttmem_kernel_role of a kernel
  bool is_unsized : 1 = false;
  bool is_estimate : 1 = false;
};

}  // namespace ttmem::tracker
