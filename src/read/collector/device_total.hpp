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

// One device over all processes. First call describe() for every process that has it, so that the
// grid is known, then add the living ones. What none of those reports is unknown. Not thread-safe.
class DeviceTotal {
 public:
  DeviceTotal(std::uint64_t uid, std::uint32_t id, std::string arch);

  // Fills in what is not known yet.
  void describe(const segment::DeviceImage& device);

  // The chip that it is for the kernel driver: its number, and what is not known of it yet. After
  // all processes.
  void describe(const driver::Chip& chip);
  // What a process calls the chip, where that is another number than the driver's.
  void add_uid(std::uint64_t uid);
  // Nobody has the chip open.
  void set_idle();
  // A process with figures that nobody knows has it open.
  void set_incomplete() { device_.complete = false; }

  // A number that a process gives it.
  void add_number(std::uint32_t number);
  [[nodiscard]] bool has_number(std::uint32_t number) const {
    return std::binary_search(device_.ids.begin(), device_.ids.end(), number);
  }
  [[nodiscard]] const model::Device& device() const { return device_; }

  // The kinds of which these figures claim more than this device has, by all that is stated of it,
  // or more than any device has.
  [[nodiscard]] std::vector<Kind> impossible(const PerKind<KindFigures>& kinds) const;
  // What there is of that kind at most; none: not on a device.
  [[nodiscard]] model::Bytes most_of(Kind kind) const;

  // A living process on this device.
  void add_tracked(const segment::DeviceImage& device, const DeviceGeometry& geometry);
  // A living process that only TT-Metal's region knows.
  void add_untracked(const RegionRow& row);

  void add_process(model::Process process) { device_.processes.push_back(std::move(process)); }

  // Call once, at the end. The processes are sorted, the living first.
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
  std::uint64_t largest_dram_ = 0;  // of all capacities that are stated; 0: none
  std::uint64_t largest_l1_ = 0;    // per core
  std::vector<CoreState> cores_;    // of the grid, row by row
  std::optional<BankFacts> banks_;  // as the living processes state them
  bool banks_agree_ = true;         // false: they state different ones
  Taken taken_{};                   // by living processes
  bool cores_known_ = true;         // false: a living process's use of single cores is unknown
  bool programs_known_ = true;      // false: one has CBs and does not tell of which programs
  bool resident_known_ = true;      // false: one has CBs and does not report dispatches
};

}  // namespace ttmem::collector
