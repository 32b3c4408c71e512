// SPDX-License-Identifier: Apache-2.0
//
// What a build of TT-Metal gave the compiler. Its compile_commands.json does not have its own files
// (build_metal.sh leaves them out), but its build.ninja has. Pure, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::attach {

// Of the first object whose path begins with `object`, in the text of a build.ninja: its defines
// and include directories, and of its other flags those that change what the headers mean (macros,
// the language and the standard library). None when there is no such object.
[[nodiscard]] std::optional<std::vector<std::string>> flags_in_ninja(std::string_view ninja,
                                                                     std::string_view object);

// A value of a build.ninja as arguments: Ninja's escapes and the shell's quotes are undone.
[[nodiscard]] std::vector<std::string> arguments_of(std::string_view value);

}  // namespace ttmem::attach
