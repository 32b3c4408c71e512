// SPDX-License-Identifier: Apache-2.0
//
// Reads the compiler flags of a build of TT-Metal from build.ninja. compile_commands.json is not
// used, because build_metal.sh omits TT-Metal's own files from it. Pure, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::attach {

// Returns the flags of the first object file whose path begins with `object`. `ninja` is the text
// of a build.ninja. Returns only the flags that change the meaning of headers: defines, include
// directories, other macros, the language and the standard library. Returns nullopt if there is no
// such object file.
[[nodiscard]] std::optional<std::vector<std::string>> flags_in_ninja(std::string_view ninja,
                                                                     std::string_view object);

// Splits a value of a build.ninja into arguments. Removes Ninja's escapes and the shell's quotes.
[[nodiscard]] std::vector<std::string> arguments_of(std::string_view value);

}  // namespace ttmem::attach
