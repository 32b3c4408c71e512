// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::attach {

// The library that contains TT-Metal's runtime.
struct RuntimeLibrary {
  std::string path;      // absolute, with links resolved
  std::string build_id;  // in hex; "file-" and a hash if the file has no build id
};

// Returns true if the file contains the runtime. The file is recognized by a symbol that it
// defines, not by its name.
[[nodiscard]] bool has_runtime(const std::string& path);

// Returns the library at this path. Fails if the file does not contain the runtime.
[[nodiscard]] Result<RuntimeLibrary> runtime_at(const std::string& path);

// Returns the library that `command`, found by PATH, would load. It is the first of:
//  1. `given`, or TTMEM_TT_METAL_LIBRARY: an Error if the file lacks the runtime;
//  2. the libraries that the program is linked with: ttmem's own dynamic loader lists them and runs
//     no code of the program;
//  3. libtt*.so in the absolute directories of LD_LIBRARY_PATH, except the dry run, which may be
//     there for other reasons;
//  4. for a Python program, the package ttnn of that Python, which is not imported; a Python found
//     only in a relative directory of PATH is not run;
//  5. TT_METAL_RUNTIME_ROOT and TT_METAL_HOME, in the folders lib and tt_metal of build,
//     build_Release, build_*;
//  6. the directories where packages put libraries.
// Returns nullopt if there is no runtime anywhere, which is not an error. `command` may be empty.
// No file of the current directory is run or loaded, unless `command` names the file with a slash.
[[nodiscard]] Result<std::optional<RuntimeLibrary>> find_runtime(
    const std::vector<std::string>& command, const std::string& given);

// The result of files_loaded_by(): the libraries that the dynamic loader would load for a program
// or library, and the symbols that the loader reports as undefined. files_loaded_by() runs no code
// of these files, and adds the variables in `more` to the environment of the loader.
struct Loaded {
  std::vector<std::string> paths;
  std::vector<std::string> undefined;  // symbols that the file needs and no library defines
};
[[nodiscard]] Loaded files_loaded_by(const std::string& path,
                                     std::vector<std::pair<std::string, std::string>> more = {});

}  // namespace ttmem::attach
