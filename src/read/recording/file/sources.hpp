// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::recording {

// Run::source of a recording by `ttmem record --server` of 0.1.0, which consists of samples of
// another machine: everything that began and ended between two samples is missing.
inline constexpr std::string_view kLooks = "looks";

}  // namespace ttmem::recording
