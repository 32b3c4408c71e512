// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/attach/runtime_library.hpp"

namespace ttmem::attach {

// The headers of the TT-Metal that a library was built from: all of them, or those of a package,
// with which an adapter sees a little less (docs/internals/adapter.md).
struct CompileFlags {
  std::string headers;             // where they are, for people
  std::vector<std::string> flags;  // for the compiler: defines, include directories, language
  std::string directory;           // that relative include directories start from
};

// Looks at `given` (a checkout, a build directory, a folder of headers or the prefix of a package),
// else where the library lies: the build that made it, the dry run's headers; else in the checkout
// that TT_METAL_RUNTIME_ROOT or TT_METAL_HOME names; else in the package that the library is of.
// Fails when there are no headers; the message says what is missing and what to do.
[[nodiscard]] Result<CompileFlags> compile_flags(const RuntimeLibrary& library,
                                                 const std::string& given);

}  // namespace ttmem::attach
