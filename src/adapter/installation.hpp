// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::adapter {

// Where the parts of ttmem lie that the adapter needs, beside the running program: `bin/ttmem` has
// `lib` and `share` next to `bin`, installed and in the build tree alike. The paths may name
// nothing: not every installation has all parts.
struct Installation {
  std::string stub;     // what is preloaded
  std::string sources;  // the folder with the adapter's sources
  std::string library;  // libttmem.so
  std::string headers;  // the folder with ttmem/ttmem.h
};

[[nodiscard]] Installation installation();

}  // namespace ttmem::adapter
