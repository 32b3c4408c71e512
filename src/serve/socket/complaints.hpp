// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ttmem::serve {

// Lines of the log about clients that misbehave. A client that connects again and again must not
// fill the disk: over all connections at most kMaxLines are written in kWindow. A line says when
// others are left out, and the first one afterwards, or the end, how many. One thread: that of the
// event loop.
class Complaints {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kMaxLines = 50;
  static constexpr std::chrono::seconds kWindow{10};

  void warn(const std::string& line, Clock::time_point now = Clock::now());
  void error(const std::string& line, Clock::time_point now = Clock::now());
  // Says how many lines were left out, if any were.
  void finish();

 private:
  // Whether a line may be written now.
  [[nodiscard]] bool allow(Clock::time_point now);

  Clock::time_point window_begin_{};
  std::uint64_t written_ = 0;  // in this window
  std::uint64_t left_out_ = 0;
};

}  // namespace ttmem::serve
