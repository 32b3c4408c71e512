// SPDX-License-Identifier: Apache-2.0
//
// Makes the requests of a capture through the dry run's own interface, and compares the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "requests.hpp"

namespace dryrun_test {

struct ReplayReport {
  std::size_t answers = 0;  // of the capture
  std::size_t equal = 0;    // as many of them got the same address and size here
  // How many sharded buffers had shards larger than their pages need. The capture does not say how
  // large, except by the answer: of these, the bytes per bank are taken over and prove nothing.
  std::size_t padded_shards = 0;
  // Of the first chip, just before the first program dies.
  std::optional<std::uint64_t> cb_bytes;
  std::vector<std::string> differences;  // each with its line, in order

  // All answers were compared, and all were equal.
  bool same() const { return differences.empty() && equal == answers; }
  // A line with the counts, then at most the first `limit` differences. A wrong address makes later
  // ones wrong too, so the first is the one to look at.
  std::string text(std::size_t limit = 10) const;
};

// Opens the machine that the capture's device lines describe, replays, and closes it. Throws when
// the dry run knows no such machine. No device may be open.
ReplayReport replay(const Capture& capture);

}  // namespace dryrun_test
