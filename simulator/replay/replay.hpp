// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace ttmem::replay {

struct ReplayOptions {
  std::string file;                    // "-": standard input
  std::optional<std::uint64_t> lines;  // stop after that many lines of the file
  std::optional<double> speed;         // 1: as recorded; none: as fast as possible
  bool hold = false;                   // afterwards keep the state until a signal
};

struct Replayed {
  std::string source;  // what messages call the file
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
  std::uint64_t threads = 0;
};

// Feeds a capture of the real runtime through the tracker, each event on the thread of its own,
// in the order of the file. Fails with file, line and reason when it is not a capture.
[[nodiscard]] Result<Replayed> replay_capture(const ReplayOptions& options);

}  // namespace ttmem::replay
