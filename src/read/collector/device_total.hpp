// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/collector/core_geometry.hpp"
#include "read/collector/evidence.hpp"
#include "read/collector/free_space.hpp"
#include "read/driver/chips.hpp"
#include "read/model/snapshot.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// Adds up the figures of one device over all processes. Call describe() for every process on the
// device first, so that the grid is known; then add the living processes. A figure that no living
// process reports is unknown. Not thread-safe.
class DeviceTotal {
 public:
  DeviceTotal(std::uint64_t uid, std::uint32_t id, std::string arch);

  // Fills in the properties that are not known yet.
  void describe(const segment::DeviceImage& device);

  // Sets the device's number to the driver's number, and fills in the properties that are not known
  // yet. Must be called after the describe() calls for all processes.
  void describe(const driver::Chip& chip);
  // Adds a uid that a process reports for the chip. Does nothing if the uid is already known.
  void add_uid(std::uint64_t uid);
  // Records that nothing is in use. Call it if no process that may hold memory has the chip open.
  void set_idle();
  // Records that a process with unknown figures has the chip open. The sums are then lower limits.
  void set_incomplete() { device_.complete = false; }

  // Adds a number that a process gives the device.
  void add_number(std::uint32_t number);
  [[nodiscard]] bool has_number(std::uint32_t number) const {
    return std::binary_search(device_.ids.begin(), device_.ids.end(), number);
  }
  [[nodiscard]] const model::Device& device() const { return device_; }

  // Returns the kinds with impossible figures: figures above the capacity that processes state for
  // this device, or above the capacity of every known device.
  [[nodiscard]] std::vector<Kind> impossible(const PerKind<KindFigures>& kinds) const;
  // Returns the maximum bytes of `kind` on this device; nullopt for host memory.
  [[nodiscard]] model::Bytes most_of(Kind kind) const;

  // Adds a living process that reports this device.
  void add_tracked(const segment::DeviceImage& device, const DeviceGeometry& geometry);
  // Adds a living process that only TT-Metal's region lists.
  void add_untracked(const RegionRow& row);

  void add_process(model::Process process) { device_.processes.push_back(std::move(process)); }

  // Returns the device, with the living processes first. Call it once, at the end.
  [[nodiscard]] model::Device finish();

 private:
  void add_cores(const segment::DeviceImage& device, const std::vector<CoreState>& states);
  void add_taken(const segment::DeviceImage& device, const Taken& taken);
  void finish_totals();
  void finish_peaks();
  void finish_cores();
  void finish_free_space();

  model::Device device_;
  L1Limits limits_;
  std::uint64_t largest_dram_ = 0;  // the largest DRAM that a process states; 0: none
  std::uint64_t largest_l1_ = 0;    // the largest L1 of a core that a process states
  std::vector<CoreState> cores_;    // cores of the grid, row by row
  std::optional<BankFacts> banks_;  // as the living processes state them
  bool banks_agree_ = true;         // false if living processes state different facts
  Taken taken_{};                   // the ranges that living processes take
  bool cores_known_ = true;         // false if a living process's use of single cores is unknown
  bool programs_known_ = true;      // false if a process has CBs but does not report programs
  bool resident_known_ = true;      // false if a process has CBs but does not report dispatches
};

}  // namespace ttmem::collector
