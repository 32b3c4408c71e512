// SPDX-License-Identifier: Apache-2.0
//
// Memory that should have been freed and was not, as plain values. An empty optional is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "base/bytes_on_devices.hpp"
#include "base/kinds.hpp"

namespace ttmem::leaks {

using report::Bytes;

// Allocations of one process with the same kind, scope and label.
struct Leak {
  std::optional<Kind> kind;  // nullopt: only the bytes are known
  std::string scope;         // empty means none; '#' replaces numbers in which names differ
  std::string label;         // as `scope`; for a program, its name
  std::string process;       // name of the process
  std::int32_t pid = 0;      // pid in the namespace of the process
  // Pid in this pid namespace; nullopt: unknown. Shown only if `foreign_pid` is true.
  std::optional<std::int32_t> host_pid;
  bool foreign_pid = false;
  // Bytes on each device, by device number. Physical bytes if they are known; 0 for programs.
  BytesOnDevices<std::uint32_t> bytes_on;
  std::optional<std::uint64_t> count;  // nullopt: only the bytes are known
  // In Leaks::dead_process: true if a signal ended the process, false if the process exited.
  // nullopt: the process ended without a clean exit, and the cause is unknown.
  std::optional<bool> killed;
  bool shared = false;  // true: circular buffers of several programs together
  // The age of the oldest allocation. In a recording, `begin_ns` is set instead: the time of the
  // oldest allocation.
  std::optional<std::uint64_t> age_ns;
  std::optional<recording::Time> begin_ns;

  [[nodiscard]] std::vector<std::uint32_t> devices() const {
    std::vector<std::uint32_t> numbers;
    for (const auto& [number, bytes] : bytes_on.of_each()) numbers.push_back(number);
    return numbers;
  }
};

// Live memory whose scope was left, added up by process, kind and scope. The scope of memory is the
// scope in which the memory was allocated.
struct Outlived {
  // How often memory outlived the scope.
  enum class How : std::uint8_t {
    // The scope had at least two visits. At least as many allocations as visits outlived the scope,
    // and at least one of these allocations was made in the last visit. Such a scope is a suspect.
    every_time,
    sometimes,
    once,  // the scope was entered only once, for example to load weights
  };
  How how = How::once;
  enum class Of : std::uint8_t { allocations, programs } of = Of::allocations;
  std::uint64_t visits = 0;  // finished visits of all scopes whose names differ only in numbers
  // `count` counts a buffer or program of a mesh once. The bytes of programs are 0, because the
  // bytes that belong to one program alone are unknown.
  Leak what;
};

// The result of searching running processes, or one recording, for leaks.
struct Leaks {
  std::string file;  // empty: running processes
  // How much could be read; `unknown` contains the reasons if not everything could be read.
  enum class Saw : std::uint8_t { all, some, nothing } saw = Saw::all;
  // Memory that processes held when they ended. For processes that exited cleanly, only a recording
  // contains this memory.
  std::vector<Leak> dead_process;
  // Memory that was not freed before its device was closed.
  std::vector<Leak> closed_device;
  // Memory that grew during the whole search, from mark to mark of a recording or from snapshot to
  // snapshot of running processes.
  std::vector<report::Growth> growth;
  // Memory that outlived its scope, suspects first. Programs are listed only as suspects, because
  // they are cached.
  std::vector<Outlived> outlived_scope;

  std::vector<std::string> looked_at;  // what was searched, in words
  std::vector<std::string> unknown;    // whole sentences: what could not be searched, and why

  // Returns true if there are leaks. Memory that outlived its scope counts only with
  // How::every_time.
  [[nodiscard]] bool any() const {
    return !dead_process.empty() || !closed_device.empty() || !growth.empty() || has_suspects();
  }
  [[nodiscard]] bool has_suspects() const {
    return !outlived_scope.empty() && outlived_scope.front().how == Outlived::How::every_time;
  }
};

}  // namespace ttmem::leaks
