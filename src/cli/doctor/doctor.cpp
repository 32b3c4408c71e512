// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor.hpp"

#include "base/environment.hpp"
#include "cli/doctor/scene.hpp"
#include "read/collector/build_snapshot.hpp"
#include "read/collector/gather.hpp"

namespace ttmem::doctor {

std::vector<model::Check> examine() {
  Scene scene;
  scene.root = system_root();
  scene.evidence = collector::gather(segment_directory());
  scene.snapshot = collector::build_figures(scene.evidence);
  Findings findings;
  check_machine(scene, findings);
  check_shared_memory(scene, findings);
  check_processes(scene, findings);
  check_runtime(findings);
  check_surroundings(findings);
  return findings.take();
}

}  // namespace ttmem::doctor
