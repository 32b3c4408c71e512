// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::recording {

// Run::source of a recording that `ttmem record --server` of version 0.1.0 made from samples of
// another machine. Everything that began and ended between two samples is missing.
inline constexpr std::string_view kLooks = "looks";

}  // namespace ttmem::recording
