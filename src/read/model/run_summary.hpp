// SPDX-License-Identifier: Apache-2.0
//
// What a command and the processes that it started took of their devices, from beginning to end:
// plain values, as in snapshot.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::model {

// One process on one device, over all times that it had it open. A kind that it never reported is
// unknown.
struct RunDevice {
  std::uint32_t id = 0;
  PerKind<Bytes> peaks{};
  Bytes l1_peak;                 // Total L1; unknown when L1 buffers are
  PerKind<Bytes> held{};         // at the end; a closed device holds nothing
  std::uint64_t left = 0;        // allocations that were live when it was closed
  std::uint64_t left_bytes = 0;  // and what they took
};

struct RunProcess {
  std::int32_t pid = 0;
  std::string command;             // or its name, when that is all that is known
  std::vector<RunDevice> devices;  // in the order in which it opened them
};

// Buffers and kernels of one kind with one label.
struct Holder {
  Kind kind = Kind::dram;
  std::string label;  // empty: none
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;  // physical where known
};

struct RunSummary {
  std::vector<RunProcess> processes;   // in the order in which they began
  std::vector<Holder> held;            // at the end, the largest first
  std::vector<Holder> fullest;         // at the fullest moment that was looked at
  std::uint64_t fullest_bytes = 0;     // of all processes together at that moment
  std::uint64_t fullest_after_ns = 0;  // since the beginning
  // Processes that had ended before it could be seen who had started them.
  std::uint64_t unknown_processes = 0;
  std::vector<std::string> warnings;
};

}  // namespace ttmem::model
