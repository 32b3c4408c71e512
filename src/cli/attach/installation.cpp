// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/installation.hpp"

#include <filesystem>
#include <system_error>

namespace ttmem::attach {

Installation installation() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string prefix = self.parent_path().parent_path().string();
  const std::string libraries = prefix + "/" TTMEM_LIBDIR;
  return {.stub = libraries + "/ttmem/libttmem_preload.so",
          .sources = prefix + "/share/ttmem/adapter",
          // Uses libttmem.so.0, because libttmem.so exists only in installations for developers.
          .library = libraries + "/libttmem.so.0"};
}

}  // namespace ttmem::attach
