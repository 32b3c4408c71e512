// SPDX-License-Identifier: Apache-2.0
#include "unit/tracked_process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "collector/collector.hpp"
#include "unit/temporary_directory.hpp"

namespace ttmem::tracked_process {
namespace {

const TemporaryDirectory& directory() {
  static const TemporaryDirectory instance;
  return instance;
}

// The library decides at its first call whether it tracks, so this is set before main().
const bool kEnvironment = [] {
  ::setenv("TTMEM_DIR", directory().path().c_str(), 1);
  ::setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
  return true;
}();

}  // namespace

model::Snapshot snapshot() {
  model::Snapshot found = collector::collect(directory().path());
  for (const std::string& warning : found.warnings) ADD_FAILURE() << warning;
  return found;
}

model::Device device(std::uint32_t chip) {
  for (const model::Device& each : snapshot().devices) {
    if (each.id == chip) return each;
  }
  ADD_FAILURE() << "no device " << chip << " in the snapshot";
  return {};
}

std::vector<model::Allocation> allocations(std::uint32_t chip) {
  const model::Snapshot found = snapshot();
  std::vector<model::Allocation> of_chip;
  for (const model::Allocation& each : found.allocations) {
    if (found.devices.at(each.device).id == chip) of_chip.push_back(each);
  }
  return of_chip;
}

}  // namespace ttmem::tracked_process
