// SPDX-License-Identifier: Apache-2.0
//
// What should be gone and is not: plain values. An empty optional is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "report/report.hpp"

namespace ttmem::leaks {

using report::Bytes;

// Allocations of one process that have kind, scope and label in common.
struct Leak {
  std::optional<Kind> kind;              // none: only how much there was is known
  std::string scope;                     // empty: none; '#' for numbers in which names differ
  std::string label;                     // the same; of programs their name
  std::string process;                   // its name
  std::int32_t pid = 0;                  // as the process itself sees it
  std::optional<std::int32_t> host_pid;  // of another pid namespace: the pid here, if known
  bool foreign_pid = false;
  std::vector<std::uint32_t> devices;  // their numbers, ascending
  std::uint64_t bytes = 0;             // on all of them; physical where known
  std::uint64_t count = 0;
  bool killed = false;  // what a process left that ended: it was killed, or crashed
  bool shared = false;  // circular buffers of programs of several names
  // When the oldest of them was allocated: how long ago, or, in a recording, its time.
  std::optional<std::uint64_t> age_ns;
  std::optional<recording::Time> begin_ns;
};

// What was looked at: processes that run, or one recording.
struct Leaks {
  std::string file;  // empty: processes that run
  // How much of it could be read; `unknown` says why not all.
  enum class Saw : std::uint8_t { all, some, nothing } saw = Saw::all;
  // What processes held when they ended. Of those that exited cleanly only a recording knows it.
  std::vector<Leak> dead_process;
  // What was not freed before its device was closed.
  std::vector<Leak> closed_device;
  // What grew for as long as it was looked at: from mark to mark, or from look to look.
  std::vector<report::Growth> growth;

  std::vector<std::string> looked_at;  // what was, in words
  std::vector<std::string> unknown;    // whole sentences: what could not be looked at, and why

  [[nodiscard]] bool any() const {
    return !dead_process.empty() || !closed_device.empty() || !growth.empty();
  }
};

}  // namespace ttmem::leaks
