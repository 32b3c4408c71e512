// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::recording {

// Run::source of a recording that consists of looks at another machine: everything that began and
// ended between two looks is missing.
inline constexpr std::string_view kLooks = "looks";

}  // namespace ttmem::recording
