// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/kinds.hpp"
#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

// What the tracker needs to release an allocation: its share of the figures, and its slot if it got
// one.
struct Receipt {
  std::uint64_t id = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t logical_bytes = 0;
  std::uint32_t slot = segment::kNoSlot;
  Kind kind = Kind::dram;
  std::uint8_t role : 2 = 0;  // of a kernel
  bool is_unsized : 1 = false;
  bool is_estimate : 1 = false;
};

}  // namespace ttmem::tracker
