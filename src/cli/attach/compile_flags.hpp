// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/attach/runtime_library.hpp"

namespace ttmem::attach {

// The headers of the TT-Metal version that a library was built from. They are either all headers or
// only the headers of a package. An adapter that is built with the headers of a package sees
// slightly less (docs/internals/adapter.md).
struct CompileFlags {
  std::string headers;             // folder of the headers, shown in messages
  std::vector<std::string> flags;  // for the compiler: defines, include directories, language
  std::string directory;           // folder that relative include directories start from
};

// Finds the headers of a library. Looks in this order: in `given` (a checkout, a build directory, a
// folder of headers or the prefix of a package); beside the library (its build, or the headers of
// the dry run); in the checkout that TT_METAL_RUNTIME_ROOT or TT_METAL_HOME names; in the package
// of the library. Fails if there are no headers; the message says what is missing and the next
// step.
[[nodiscard]] Result<CompileFlags> compile_flags(const RuntimeLibrary& library,
                                                 const std::string& given);

}  // namespace ttmem::attach
