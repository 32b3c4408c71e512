// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "cli/attach/cache.hpp"
#include "cli/attach/installation.hpp"
#include "cli/attach/runtime_library.hpp"

namespace ttmem::attach {

struct BuildOptions {
  std::string headers{};  // folder of the headers; empty: compile_flags() searches
  // Called once when a build begins, with the path of the library. A build takes about half a
  // minute.
  std::function<void(const std::string&)> begins{};
};

// Returns the adapter for this library from the cache, or builds it. If several processes want the
// same adapter, the first process builds it and the others wait. If an earlier build of the adapter
// failed, fails without a new attempt; only build_adapter() tries again. The message of a failure
// has the reason and the next step.
[[nodiscard]] Result<CacheEntry> find_or_build(const RuntimeLibrary& library,
                                               const Installation& installation,
                                               const BuildOptions& options);

// Builds the adapter, even if the cache already has an adapter for this library. The existing
// adapter stays until the new adapter is complete, and stays if the build fails.
[[nodiscard]] Result<CacheEntry> build_adapter(const RuntimeLibrary& library,
                                               const Installation& installation,
                                               const BuildOptions& options);

}  // namespace ttmem::attach
