// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace ttmem::replay {

struct Options {
  std::string file;
  std::optional<std::uint64_t> lines;  // stop after that many lines of the file
  std::optional<double> speed;         // 1: as it happened; none: as fast as it goes
  bool hold = false;                   // afterwards keep the state until a signal
};

struct Played {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
  std::uint64_t threads = 0;
};

// Feeds a capture of the real runtime through the tracker, each event on the thread of its own,
// in the order of the file. Fails with the file, line and reason when the capture is not one.
[[nodiscard]] Result<Played> play(const Options& options);

}  // namespace ttmem::replay
