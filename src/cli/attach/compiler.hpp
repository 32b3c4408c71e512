// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ttmem::attach {

// Returns the command of a compiler for TT-Metal's headers: the first of $CXX, g++, clang++ and c++
// that exists and is new enough (GCC 11, clang 16). If $CXX contains arguments, the command
// contains these arguments too. Fails if no compiler is suitable.
[[nodiscard]] Result<std::vector<std::string>> find_compiler();

// Returns true if a compiler is new enough. `macros` are its predefined macros, one #define per
// line. Pure.
[[nodiscard]] bool new_enough(std::string_view macros);

}  // namespace ttmem::attach
