// SPDX-License-Identifier: Apache-2.0
//
// The adapters that were built, each in a folder of its own:
//
//   ~/.cache/ttmem/adapters/<build id of the library>-<hash>/adapter.so
//                                                           /about.json
//                                                           /build.log
//
// The hash is of the adapter's sources and of the libttmem.so that it is linked with. Adapters are
// loaded into the user's programs, so an adapter that others can change is not used (trust.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/attach/installation.hpp"
#include "cli/attach/runtime_library.hpp"

namespace ttmem::attach {

// What about.json says.
struct About {
  std::string library;   // that it was built for
  std::string headers;   // that it was built with
  std::string compiler;  // its command
  std::string version;   // of ttmem
  std::uint64_t built_unix_seconds = 0;
};

struct CacheEntry {
  std::string id;      // the name of its folder
  std::string folder;  // its path
  About about;         // empty texts: unknown
  bool built = false;  // false: the build failed, or is under way

  [[nodiscard]] std::string adapter() const { return folder + "/adapter.so"; }
  [[nodiscard]] std::string log() const { return folder + "/build.log"; }
};

// $XDG_CACHE_HOME or ~/.cache, then ttmem/adapters; empty when there is neither.
[[nodiscard]] std::string cache_folder();

// The name of the adapter of a library for this installation.
[[nodiscard]] Result<std::string> adapter_id(const RuntimeLibrary& library,
                                             const Installation& installation);

// The adapter with this id. None when there is none; an Error when it is not to be trusted.
[[nodiscard]] Result<std::optional<CacheEntry>> find_entry(const std::string& id);

// Makes the folders for a new one. Fails when that is not possible, or they are not to be trusted.
[[nodiscard]] Result<CacheEntry> make_entry(const std::string& id);

[[nodiscard]] bool write_about(const CacheEntry& entry);

// All, by name. Fails when the cache cannot be read; one that is not there is empty.
[[nodiscard]] Result<std::vector<CacheEntry>> list_entries();

[[nodiscard]] Result<void> remove_entry(const CacheEntry& entry);

// This build of ttmem.
[[nodiscard]] const char* ttmem_version();

}  // namespace ttmem::attach
