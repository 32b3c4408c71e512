// SPDX-License-Identifier: Apache-2.0
//
// Checks the TT-Metal that `ttmem run` would find, and the adapter for this TT-Metal.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/attach/cache.hpp"
#include "cli/attach/compile_flags.hpp"
#include "cli/attach/compiler.hpp"
#include "cli/attach/installation.hpp"
#include "cli/attach/runtime_library.hpp"
#include "cli/doctor/scene.hpp"

namespace ttmem::doctor {
namespace {

using attach::RuntimeLibrary;

void check_adapter(const RuntimeLibrary& library, Findings& findings) {
  const attach::Installation installation = attach::installation();
  if (::access(installation.stub.c_str(), R_OK) != 0) {
    return findings.failure("adapter", installation.stub + ", which is preloaded, is not there",
                            "install ttmem again");
  }
  const auto id = attach::adapter_id(library, installation);
  if (!id) return findings.failure("adapter", id.error().message, "install ttmem again");
  const auto entry = attach::find_entry(*id);
  if (!entry) {
    return findings.failure("adapter", entry.error().message, "`ttmem adapter remove`");
  }
  if (*entry && (*entry)->built) {
    return findings.good("adapter", fmt::format("built for it ({})", *id));
  }
  if (*entry) {
    return findings.failure("adapter", fmt::format("its build failed; see {}", (*entry)->log()),
                            "`ttmem adapter build`");
  }
  const auto flags = attach::compile_flags(library, "");
  if (!flags) return findings.failure("adapter", flags.error().message, "`ttmem help adapter`");
  const auto compiler = attach::find_compiler();
  if (!compiler)
    return findings.failure("adapter", compiler.error().message, "`ttmem help adapter`");
  findings.note("adapter", "not built yet for this TT-Metal: `ttmem run` will, in half a minute",
                "`ttmem adapter build`");
}

}  // namespace

void check_runtime(Findings& findings) {
  const auto library = attach::find_runtime({"python3"}, "");
  if (!library) {
    return findings.failure("TT-Metal", library.error().message,
                            "unset TTMEM_TT_METAL_LIBRARY, or correct it");
  }
  if (!*library) {
    return findings.note("TT-Metal", "not found by TT_METAL_HOME, in python3 or as a package",
                         "set TT_METAL_HOME, or `ttmem run --library PATH -- CMD`");
  }
  findings.good("TT-Metal",
                fmt::format("{}, build {}", (*library)->path, (*library)->build_id.substr(0, 12)));
  check_adapter(**library, findings);
}

}  // namespace ttmem::doctor
