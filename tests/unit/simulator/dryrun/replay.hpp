// SPDX-License-Identifier: Apache-2.0
//
// Repeats the requests of a capture through the dry run's own interface and compares the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "requests.hpp"

namespace dryrun_test {

struct ReplayReport {
  std::size_t answers = 0;  // number of answers in the capture
  std::size_t equal = 0;    // number of answers with the same address and size on the dry run
  // Number of sharded buffers whose shards are larger than their pages need. The capture does not
  // give the shard size. The bytes per bank of these buffers are taken from the answer and prove
  // nothing.
  std::size_t padded_shards = 0;
  // Bytes of CBs on the first chip, just before the first program ends.
  std::optional<std::uint64_t> cb_bytes;
  std::vector<std::string> differences;  // in order, each with its line in the capture

  // Returns true if all answers were compared and were equal.
  bool same() const { return differences.empty() && equal == answers; }
  // Returns a line with the counts, followed by at most the first `limit` differences. A wrong
  // address makes later addresses wrong too, so the first difference matters most.
  std::string text(std::size_t limit = 10) const;
};

// Opens the machine that the capture's device lines describe, replays the capture, and closes the
// machine. Throws if the dry run has no such machine. No device may be open.
ReplayReport replay(const Capture& capture);

}  // namespace dryrun_test
