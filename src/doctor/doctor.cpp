// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.hpp"

#include "base/environment.hpp"
#include "collector/build_snapshot.hpp"
#include "collector/gather.hpp"
#include "doctor/scene.hpp"

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
