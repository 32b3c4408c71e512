// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace ttmem::replay {

struct ReplayOptions {
  std::string file;                    // "-": standard input
  std::optional<std::uint64_t> lines;  // number of lines to replay; nullopt: all
  std::optional<double> speed;         // 1: as recorded; nullopt: as fast as possible
  bool hold = false;                   // keep the state until a signal
};

struct Replayed {
  std::string source;  // name of the file in messages
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
  std::uint64_t threads = 0;
};

// Reports the lines of a capture of the real runtime to the tracker, in the order of the file. Each
// line is reported on a thread that stands for the line's thread number. Fails if the speed is not
// above 0, if tracking could not start, or if the capture has events of too many threads. Also
// fails if the file is not a capture; the message names the file, the line and the reason.
[[nodiscard]] Result<Replayed> replay_capture(const ReplayOptions& options);

}  // namespace ttmem::replay
