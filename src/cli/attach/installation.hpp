// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::attach {

// Where the parts of ttmem lie that the adapter needs, beside the running program: `bin/ttmem` has
// `lib` (or what CMAKE_INSTALL_LIBDIR names) and `share` next to `bin`, installed and in the build
// tree alike. The paths may name nothing: not every installation has all parts.
struct Installation {
  std::string stub;     // what is preloaded
  std::string sources;  // the folder with the adapter's sources, and ttmem/ttmem.h for them
  std::string library;  // libttmem.so.0
};

[[nodiscard]] Installation installation();

}  // namespace ttmem::attach
