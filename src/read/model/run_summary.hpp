// SPDX-License-Identifier: Apache-2.0
// The memory that a command and the processes that it started held on their devices during the
// whole run. All structures hold plain values, as in snapshot.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes_on_devices.hpp"
#include "base/kinds.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::model {

// One process on one device, over all periods in which the process had the device open. The figures
// of a kind that the process never reported are unknown.
struct RunDevice {
  std::uint32_t id = 0;
  PerKind<Bytes> peaks{};
  Bytes l1_peak;                 // Total L1; unknown if the L1 buffers are unknown
  PerKind<Bytes> held{};         // bytes at the end of the run; 0 on a closed device
  std::uint64_t left = 0;        // allocations that were live when the device was closed
  std::uint64_t left_bytes = 0;  // bytes of the allocations in `left`
};

struct RunProcess {
  std::int32_t pid = 0;
  std::string command;             // command line, or the name if the command line is unknown
  std::vector<RunDevice> devices;  // in the order in which the process opened them
};

// Buffers and kernels of one kind with one label.
struct LabelTotal {
  Kind kind = Kind::dram;
  std::string label;  // empty if there is none
  std::uint64_t allocations = 0;
  // Identifies a chip: the uid and 0, or 0 and the device number if the uid is unknown.
  using Chip = std::pair<std::uint64_t, std::uint32_t>;
  BytesOnDevices<Chip> bytes_on;  // physical where known
};

struct RunSummary {
  std::vector<RunProcess> processes;  // in the order of their start
  // Allocations that were live at the end of the run. The group with the most bytes on one device
  // comes first.
  std::vector<LabelTotal> held;
  // Allocations that were live in the sample with the most bytes in use, in the same order as
  // `held`.
  std::vector<LabelTotal> fullest;
  std::uint64_t fullest_bytes = 0;  // bytes in use in that sample, over all processes and devices
  std::uint64_t fullest_after_ns = 0;  // time from the start of the run to that sample
  // Number of processes that ended before ttmem could see which process had started them.
  std::uint64_t unknown_processes = 0;
  std::vector<std::string> warnings;
};

}  // namespace ttmem::model
