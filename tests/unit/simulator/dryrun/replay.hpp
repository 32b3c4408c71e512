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
  std::size_t answers = 0;  // number of addresses and sizes that the runtime gave in the capture
  std::size_t equal = 0;    // number of these answers that are equal on the dry run
  // Number of sharded buffers whose shards are larger than their pages need. The capture does not
  // contain the sizes of shards. Therefore the bytes per bank of these buffers are copied from the
  // answers, and their comparison proves nothing.
  std::size_t padded_shards = 0;
  // Bytes of CBs on the first chip, just before the first program ends.
  std::optional<std::uint64_t> cb_bytes;
  std::vector<std::string> differences;  // in the order of the capture, each with its line

  // Returns true if all answers were compared and were equal.
  bool same() const { return differences.empty() && equal == answers; }
  // Returns a line with the counts, then the differences, but at most `limit` of them. The first
  // difference matters most, because a wrong address also makes later addresses wrong.
  std::string text(std::size_t limit = 10) const;
};

// Opens the machine that the capture's device lines describe, replays the capture, and closes the
// machine. No device may be open before the call. Throws if the dry run has no such machine.
ReplayReport replay(const Capture& capture);

}  // namespace dryrun_test
