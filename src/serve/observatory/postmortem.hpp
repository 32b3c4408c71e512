// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "read/collector/collector.hpp"

namespace ttmem::serve {

// A process that ended without a clean exit, and what it held.
struct Postmortem {
  std::uint64_t found_unix_ns = 0;
  bool removed = false;  // true if this and all other dead segments of the pass were removed
  collector::DeadSegment process;
};

// Returns lines for a log: the process, its bytes by kind, and its largest allocations.
[[nodiscard]] std::vector<std::string> postmortem_lines(const collector::DeadSegment& dead);

// The last kMax post-mortems. For one thread at a time.
class Postmortems {
 public:
  static constexpr std::size_t kMax = 256;

  void add(Postmortem postmortem);

  [[nodiscard]] const std::deque<Postmortem>& list() const { return list_; }  // the oldest first
  // Returns the number of post-mortems since the start of the server.
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::deque<Postmortem> list_;
  std::uint64_t total_ = 0;
};

}  // namespace ttmem::serve
