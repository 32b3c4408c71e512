// SPDX-License-Identifier: Apache-2.0
//
// The facts and results that all checks of `ttmem doctor` share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "read/collector/evidence.hpp"
#include "read/model/check.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::doctor {

struct Scene {
  std::string root;  // value of TTMEM_SYSROOT
  collector::Evidence evidence;
  model::Snapshot snapshot;
};

// The results of the checks, in the order in which they are shown.
class Findings {
 public:
  void good(std::string name, std::string found) {
    add(model::Check::Status::good, std::move(name), std::move(found), {});
  }
  void note(std::string name, std::string found, std::string advice = {}) {
    add(model::Check::Status::note, std::move(name), std::move(found), std::move(advice));
  }
  void warning(std::string name, std::string found, std::string advice) {
    add(model::Check::Status::warning, std::move(name), std::move(found), std::move(advice));
  }
  void failure(std::string name, std::string found, std::string advice) {
    add(model::Check::Status::failure, std::move(name), std::move(found), std::move(advice));
  }
  [[nodiscard]] std::vector<model::Check> take() { return std::move(checks_); }

 private:
  void add(model::Check::Status status, std::string name, std::string found, std::string advice) {
    checks_.push_back({std::move(name), status, std::move(found), std::move(advice)});
  }

  std::vector<model::Check> checks_;
};

void check_machine(const Scene& scene, Findings& findings);        // driver, chips
void check_shared_memory(const Scene& scene, Findings& findings);  // segments
// Checks tracked processes, and finds processes that should be tracked but are not.
void check_processes(const Scene& scene, Findings& findings);
void check_runtime(Findings& findings);       // TT-Metal, its adapter
void check_surroundings(Findings& findings);  // variables, server, clock, locale

}  // namespace ttmem::doctor
