// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::recording {

// Run::source of a run that was made of looks at another machine: what came and went between two of
// them is missing.
inline constexpr std::string_view kLooks = "looks";

}  // namespace ttmem::recording
