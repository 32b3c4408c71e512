// SPDX-License-Identifier: Apache-2.0
//
// The explanation of a failure, as plain values. explain() returns the explanation, and the views
// show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/explain/device_memory.hpp"
#include "analyse/explain/picture.hpp"
#include "base/kinds.hpp"

namespace ttmem::explain {

enum class Cause : std::uint8_t {
  capacity,         // not enough memory is free
  fragmentation,    // enough memory is free, but not in one block
  clash,            // CBs of a program and L1 buffers overlap
  beyond_l1,        // CBs of a program are larger than L1
  l1_small_region,  // the L1_SMALL region that was set up is too small
  trace_region,
  unknown,
};

// Returns the name in JSON.
[[nodiscard]] constexpr std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::capacity:
      return "capacity";
    case Cause::fragmentation:
      return "fragmentation";
    case Cause::clash:
      return "clash";
    case Cause::beyond_l1:
      return "beyond_l1";
    case Cause::l1_small_region:
      return "l1_small_region";
    case Cause::trace_region:
      return "trace_region";
    case Cause::unknown:
      break;
  }
  return "unknown";
}

// A change that would have helped.
struct Suggestion {
  std::string action{};  // "free", "reallocate", "shrink_cbs", "l1_small_size", ...
  bool tried = false;  // true: tried on the allocator with all held buffers, and the request fitted
  std::string text{};
  Bytes bytes{};  // value to set (l1_small_size, trace_region_size), or bytes to save on each core
  std::vector<BufferHolder> buffers{};  // buffers to free or to move
};

struct Explanation {
  Cause cause = Cause::unknown;
  std::string sentence{};  // what was requested and what was available

  std::optional<Kind> kind{};
  Bytes bytes{};
  Bytes bytes_per_bank{};
  Bytes free_per_bank{};
  Bytes largest_free_per_bank{};
  Bytes short_by{};  // bytes missing in each bank, or on each core

  std::string place{};  // "Device 0 (wormhole_b0, n150), process 4711 (python3)"; empty: unknown
  std::optional<Picture> picture{};
  std::vector<BufferHolder> in_the_way{};  // at most kMaxHolders, the most bytes in a bank first
  std::uint64_t more_in_the_way = 0;       // number of holders that are left out
  std::vector<Suggestion> suggestions{};   // at most kMaxSuggestions, the cheapest first
  std::vector<std::string> unknown{};      // sentences: what is unknown, and how to find it out
};

inline constexpr std::size_t kMaxSuggestions = 5;
inline constexpr std::size_t kMaxHolders = 20;

}  // namespace ttmem::explain
