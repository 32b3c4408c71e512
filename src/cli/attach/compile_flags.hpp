// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/attach/runtime_library.hpp"

namespace ttmem::attach {

// The headers of the TT-Metal version that a library was built from. A checkout has all headers. A
// package has fewer headers, and an adapter that is built with a package reports slightly less
// (docs/internals/adapter.md).
struct CompileFlags {
  std::string headers;             // folder of the headers, shown in messages
  std::vector<std::string> flags;  // for the compiler: defines, include directories, language
  std::string directory;           // base of relative include directories
};

// Finds the headers of a library. Looks in this order: in `given` (a checkout, a build directory, a
// folder of headers or the prefix of a package); beside the library (its build, or the headers of
// the dry run); in the checkout that TT_METAL_RUNTIME_ROOT or TT_METAL_HOME names; in the package
// of the library. Fails if no headers are found. The message says what is missing and how to
// proceed.
[[nodiscard]] Result<CompileFlags> compile_flags(const RuntimeLibrary& library,
                                                 const std::string& given);

}  // namespace ttmem::attach
