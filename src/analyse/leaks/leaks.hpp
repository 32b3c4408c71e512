// SPDX-License-Identifier: Apache-2.0
//
// What should be gone and is not: plain values. An empty optional is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "base/kinds.hpp"

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
  std::optional<std::uint64_t> count;  // none: only their bytes are known
  bool killed = false;                 // what a process left that ended: it was killed, or crashed
  bool shared = false;                 // circular buffers of programs of several names
  // When the oldest of them was allocated: how long ago, or, in a recording, its time.
  std::optional<std::uint64_t> age_ns;
  std::optional<recording::Time> begin_ns;
};

// What is alive although the scope was left in which it was taken: what has process, kind and scope
// in common.
struct Outlived {
  // How often the scope left something behind.
  enum class How : std::uint8_t {
    every_time,  // as many as visits at least, of at least two, and also at the last one: a suspect
    sometimes,
    once,  // it was entered only once, as for loading weights
  };
  How how = How::once;
  enum class Of : std::uint8_t { allocations, programs } of = Of::allocations;
  std::uint64_t visits = 0;  // that are over; of all scopes whose names differ only in numbers
  // `count` has a buffer or program of a mesh once. The bytes of programs are 0: what of their
  // circular buffers each takes alone is not known here.
  Leak what;
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
  // What outlived its scope, suspects first. Programs only as suspects: they are cached.
  std::vector<Outlived> outlived_scope;

  std::vector<std::string> looked_at;  // what was, in words
  std::vector<std::string> unknown;    // whole sentences: what could not be looked at, and why

  // Whether there are any. What outlived its scope counts only when that happened every time.
  [[nodiscard]] bool any() const {
    return !dead_process.empty() || !closed_device.empty() || !growth.empty() || has_suspects();
  }
  [[nodiscard]] bool has_suspects() const {
    return !outlived_scope.empty() && outlived_scope.front().how == Outlived::How::every_time;
  }
};

}  // namespace ttmem::leaks
