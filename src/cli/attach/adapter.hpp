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
  std::string headers{};  // where to look for them; empty: see compile_flags()
  // Called once when a build begins, with the path of the library: it takes half a minute.
  std::function<void(const std::string&)> begins{};
};

// The adapter of this library: the one in the cache, else a new one. Of several processes that want
// the same one, the first builds and the others wait. A build that failed is not tried again; see
// build_adapter(). Fails when no adapter can be had; the message says why and what to do.
[[nodiscard]] Result<CacheEntry> find_or_build(const RuntimeLibrary& library,
                                               const Installation& installation,
                                               const BuildOptions& options);

// Builds it, whatever is in the cache. One that is there stays until the new one is complete, and
// stays when the build fails.
[[nodiscard]] Result<CacheEntry> build_adapter(const RuntimeLibrary& library,
                                               const Installation& installation,
                                               const BuildOptions& options);

}  // namespace ttmem::attach
