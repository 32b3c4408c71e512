// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::attach {

// The library that has TT-Metal's runtime in it.
struct RuntimeLibrary {
  std::string path;      // absolute, links resolved
  std::string build_id;  // in hex, or "file-" and a hash of the file when it was linked without one
};

// True if the file is such a library: by a symbol that it defines, not by its name.
[[nodiscard]] bool has_runtime(const std::string& path);

// The library at this path. Fails when it is none that has the runtime.
[[nodiscard]] Result<RuntimeLibrary> runtime_at(const std::string& path);

// The library that `command`, found by PATH, would load. The first of:
// 1. `given`, or TTMEM_TT_METAL_LIBRARY: an Error when there is no runtime in it;
// 2. the libraries that the program is linked with: ttmem's own dynamic loader lists them and runs
//    no code of the program;
// 3. libtt*.so in the absolute directories of LD_LIBRARY_PATH, but not the dry run, which lies
//    there for other reasons;
// 4. for a Python program, the package ttnn of that Python, which is not imported; a Python found
//    only in a relative directory of PATH is not run;
// 5. TT_METAL_RUNTIME_ROOT and TT_METAL_HOME, in the folders lib and
//    tt_metal of build, build_Release, build_*;
// 6. the directories where packages put libraries.
// Returns nullopt if there is no runtime anywhere, which is not an error. `command` may be empty.
// No file of the current directory is run or loaded, unless `command` names the file with a slash.
[[nodiscard]] Result<std::optional<RuntimeLibrary>> find_runtime(
    const std::vector<std::string>& command, const std::string& given);

// What the dynamic loader would load for this program or library, and what it complains about;
// nothing of it runs. `more` is in addition to this process's environment.
struct Loaded {
  std::vector<std::string> paths;
  std::vector<std::string> undefined;  // symbols that nothing defines, of the file itself
};
[[nodiscard]] Loaded what_loads(const std::string& path,
                                std::vector<std::pair<std::string, std::string>> more = {});

}  // namespace ttmem::attach
