// SPDX-License-Identifier: Apache-2.0
#include "support/tracked_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "read/collector/collector.hpp"
#include "support/tracked_environment.hpp"

namespace ttmem::tracked_process {

model::Snapshot snapshot() {
  model::Snapshot found = collector::collect(tracked_directory());
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
    const auto devices = devices_of(each);
    const bool is_there = std::any_of(devices.begin(), devices.end(), [&](std::uint32_t device) {
      return found.devices.at(device).id == chip;
    });
    if (is_there) of_chip.push_back(each);
  }
  return of_chip;
}

}  // namespace ttmem::tracked_process
