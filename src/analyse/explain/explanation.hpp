// SPDX-License-Identifier: Apache-2.0
//
// Why memory did not suffice, as plain values: what explain() finds, and the views show.
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
  capacity,         // too little is free
  fragmentation,    // enough is free, but not in one block
  clash,            // CBs of a program and L1 buffers overlap
  beyond_l1,        // CBs of a program are larger than L1
  l1_small_region,  // the region that was set up is too small
  trace_region,
  unknown,
};

// As in JSON.
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
  bool tried = false;    // on the allocator, with all that was held: it would have fitted
  std::string text{};
  Bytes bytes{};                  // to set (l1_small_size, trace_region_size), or a core's to save
  std::vector<Holder> buffers{};  // to free or to move
};

struct Explanation {
  Cause cause = Cause::unknown;
  std::string sentence{};  // what was asked for and what there was

  std::optional<Kind> kind{};
  Bytes bytes{};
  Bytes bytes_per_bank{};
  Bytes free_per_bank{};
  Bytes largest_free_per_bank{};
  Bytes short_by{};  // in each bank, or on each core

  std::string place{};  // "Device 0 (wormhole_b0, n150), process 4711 (python3)"; empty: unknown
  std::optional<Picture> picture{};
  std::vector<Holder> in_the_way{};       // at most kMostHolders, the largest gain first
  std::uint64_t more_in_the_way = 0;      // that are not listed
  std::vector<Suggestion> suggestions{};  // at most kMostSuggestions, the cheapest first
  std::vector<std::string> unknown{};     // sentences: what is not known, and what would tell it
};

inline constexpr std::size_t kMostSuggestions = 5;
inline constexpr std::size_t kMostHolders = 20;

}  // namespace ttmem::explain
