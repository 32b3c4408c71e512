// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the demo where the dry run, on whose devices it plays, was not built.
#include "workload/demo/demo.hpp"

namespace ttmem::demo {

const std::vector<ScenarioInfo>& scenarios() {
  static const std::vector<ScenarioInfo> none;
  return none;
}

Result<void> run(const Options&) {
  return Error{
      "this ttmem was built without the dry run, on whose devices the demo plays; build it with "
      "cmake -DTTMEM_DRYRUN=ON (the default)"};
}

}  // namespace ttmem::demo
