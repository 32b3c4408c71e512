// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tt-metalium/core_coord.hpp>
#include <type_traits>
#include <variant>

namespace tt::tt_metal::dryrun {

// What TT-Metal's functions take as cores: one, a range or a set of ranges.
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
