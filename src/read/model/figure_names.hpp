// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "base/kind_figures.hpp"

namespace ttmem::model {

// The JSON keys of the figures of a kind: kFigureNames[i] is the key of kFigures[i].
inline constexpr std::array<std::string_view, kFigures.size()> kFigureNames = {
    "used_bytes", "peak_bytes",        "logical_bytes", "live",
    "unsized",    "allocations_total", "frees_total"};

}  // namespace ttmem::model
