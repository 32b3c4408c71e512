// SPDX-License-Identifier: Apache-2.0
//
// The adapters that were built. Each has its own folder:
//
//   ~/.cache/ttmem/adapters/<build id of the library>-<hash>/adapter.so
//                                                           /about.json
//                                                           /build.log
//
// The hash covers the adapter's sources and the libttmem.so that the adapter is linked with. An
// adapter runs inside the user's programs. So ttmem does not use an adapter that other users can
// change (trust.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/attach/installation.hpp"
#include "cli/attach/runtime_library.hpp"

namespace ttmem::attach {

// The contents of about.json.
struct About {
  std::string library;   // path of the library that the adapter is for
  std::string headers;   // folder of the headers that the adapter was built with
  std::string compiler;  // command of the compiler
  std::string version;   // version of ttmem
  std::uint64_t built_unix_seconds = 0;
};

struct CacheEntry {
  std::string id;      // name of the folder
  std::string folder;  // path of the folder
  About about;         // unknown texts are empty
  bool built = false;  // true if the build succeeded; false if it failed or is not finished

  [[nodiscard]] std::string adapter() const { return folder + "/adapter.so"; }
  [[nodiscard]] std::string log() const { return folder + "/build.log"; }
};

// Returns the folder ttmem/adapters in $XDG_CACHE_HOME, or in ~/.cache if that variable has no
// absolute path. Returns an empty text if there is neither an absolute XDG_CACHE_HOME nor a home
// folder.
[[nodiscard]] std::string cache_folder();

// Returns the id of the adapter of a library for this installation.
[[nodiscard]] Result<std::string> adapter_id(const RuntimeLibrary& library,
                                             const Installation& installation);

// Returns the adapter with this id, or nullopt if there is none. Fails if other users could change
// the adapter.
[[nodiscard]] Result<std::optional<CacheEntry>> find_entry(const std::string& id);

// Makes the folders of a new entry. Fails if the folders cannot be made, or if other users could
// change them.
[[nodiscard]] Result<CacheEntry> make_entry(const std::string& id);

[[nodiscard]] bool write_about(const CacheEntry& entry);

// Returns all entries by name. Fails if the cache cannot be read; a missing cache is empty.
[[nodiscard]] Result<std::vector<CacheEntry>> list_entries();

[[nodiscard]] Result<void> remove_entry(const CacheEntry& entry);

// Returns the version of this build of ttmem.
[[nodiscard]] const char* ttmem_version();

}  // namespace ttmem::attach
