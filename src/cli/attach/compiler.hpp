// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ttmem::attach {

// A compiler for TT-Metal's headers, as the beginning of a command line: $CXX, g++, clang++, c++,
// the first that is there and new enough: GCC 11, clang 16. Fails when there is none.
[[nodiscard]] Result<std::vector<std::string>> find_compiler();

// `macros` is what a compiler defines by itself, a #define a line. Pure.
[[nodiscard]] bool new_enough(std::string_view macros);

}  // namespace ttmem::attach
