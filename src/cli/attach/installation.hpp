// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::attach {

// The paths of the parts of ttmem that the adapter needs. They are derived from the path of the
// running program: `lib` (or CMAKE_INSTALL_LIBDIR) and `share` are next to `bin`, both in an
// installation and in the build tree. The file at a path may be missing, because an installation
// need not have all parts.
struct Installation {
  std::string stub;     // library that is preloaded
  std::string sources;  // folder with the adapter's sources and ttmem/ttmem.h
  std::string library;  // libttmem.so.0
};

[[nodiscard]] Installation installation();

}  // namespace ttmem::attach
