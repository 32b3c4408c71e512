// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tt-metalium/core_coord.hpp>
#include <type_traits>
#include <variant>

namespace tt::tt_metal::dryrun {

// Converts the cores that TT-Metal's functions accept: a core, a range or a set of ranges.
template <typename... Specs>
CoreRangeSet cores_of(const std::variant<Specs...>& core_spec) {
  return std::visit(
      [](const auto& spec) -> CoreRangeSet {
        if constexpr (std::is_same_v<std::decay_t<decltype(spec)>, CoreCoord>) {
          return CoreRange(spec);
        } else {
          return spec;
        }
      },
      core_spec);
}

}  // namespace tt::tt_metal::dryrun
