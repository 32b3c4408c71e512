// SPDX-License-Identifier: Apache-2.0
// Replaces demo.cpp in a build without the dry run, because the demo needs the dry run's devices.
#include "simulator/demo/demo.hpp"

namespace ttmem::demo {

std::vector<ScenarioInfo> scenarios() { return {}; }

Result<void> run(const DemoOptions&) {
  return Error{
      "ttmem demo needs the dry run, and this ttmem was built without it; build it with "
      "cmake -DTTMEM_DRYRUN=ON (the default)"};
}

}  // namespace ttmem::demo
