// SPDX-License-Identifier: Apache-2.0
//
// What processes held when memory did not suffice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::collector {

// A process whose runtime said that memory did not suffice (ttmem_failure()).
struct Failure {
  std::int32_t pid = 0;
  std::optional<std::uint32_t> pid_namespace;  // of `pid`, if it is not the reader's
  std::string name;
  std::string command;
  std::string user;
  std::string run;  // $TTMEM_RUN of the process; empty: none
  bool is_alive = false;
  std::uint64_t time_unix_ns = 0;
  std::string text;  // what was said, in one line or more
  // What this process alone held: at the moment of the failure, or, where that could not be kept
  // (`not_kept` says why), now or when it died.
  model::Snapshot snapshot;
  std::string not_kept;  // empty: it was
};

struct Failures {
  std::vector<Failure> list;          // the newest first
  std::vector<std::string> warnings;  // what could not be read, and why
  std::vector<std::string> denied;    // whose files this user may not read
};

// The last failure of each process that has left one in `directory`, and of each that lives there.
// Removes nothing. Never fails, as collect() does not.
[[nodiscard]] Failures failures(const std::string& directory);

}  // namespace ttmem::collector
