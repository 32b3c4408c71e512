// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::adapter {

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
// 2. what a program is linked with, asked of its own dynamic loader, which runs nothing of it;
// 3. libtt*.so in LD_LIBRARY_PATH, but not the dry run, which lies there for other reasons;
// 4. of a Python program: the package ttnn of that Python, which is not imported;
// 5. TT_METAL_RUNTIME_ROOT and TT_METAL_HOME, in the folders lib and
//    tt_metal of build, build_Release, build_*;
// 6. the directories where packages put libraries.
// None when there is no runtime anywhere, which is not an error. `command` may be empty.
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

}  // namespace ttmem::adapter
