// SPDX-License-Identifier: Apache-2.0
// The out-of-memory errors of processes, with the memory that the processes held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::collector {

// An out-of-memory error that the runtime of a process reported (ttmem_report_failure()).
struct Failure {
  std::int32_t pid = 0;
  std::optional<std::uint32_t> pid_namespace;  // namespace of `pid`; nullopt: the reader's
  std::string name;
  std::string command;
  std::string user;
  std::string run;  // $TTMEM_RUN of the process; empty if not set
  bool is_alive = false;
  std::uint64_t time_unix_ns = 0;
  std::string text;  // the error message, one or more lines
  // The memory that the process held at the moment of the failure. If this state could not be kept,
  // `not_kept` has the reason, and `snapshot` has the memory that the process holds now, or held
  // when the process died.
  model::Snapshot snapshot;
  std::string not_kept;  // empty if the state was kept
};

struct Failures {
  std::vector<Failure> list;          // newest first
  std::vector<std::string> warnings;  // what could not be read, and why
  std::vector<std::string> denied;    // warnings about files that this user may not read
};

// Returns the last failure of each process, dead or alive. Reads the segments and the copies of
// segments in `directory`. Removes nothing. Never fails: a file that cannot be read becomes a
// warning.
[[nodiscard]] Failures failures(const std::string& directory);

}  // namespace ttmem::collector
