// SPDX-License-Identifier: Apache-2.0
//
// The compiler flags of a build of TT-Metal. They are read from build.ninja, because
// compile_commands.json lacks TT-Metal's own files (build_metal.sh omits them). Pure, safe from any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::attach {

// Returns flags of the first object whose path begins with `object` in the text of a build.ninja:
// its defines and include directories, and all other flags that change the meaning of headers
// (macros, the language and the standard library). Returns nullopt if there is no such object.
[[nodiscard]] std::optional<std::vector<std::string>> flags_in_ninja(std::string_view ninja,
                                                                     std::string_view object);

// Splits a value of a build.ninja into arguments. Removes Ninja's escapes and the shell's quotes.
[[nodiscard]] std::vector<std::string> arguments_of(std::string_view value);

}  // namespace ttmem::attach
