// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ttmem::serve {

// Log lines about clients that misbehave. A client that reconnects all the time could fill the
// disk, so all connections together write at most kMaxLines in kWindow. One line says that further
// lines are omitted. The first line of a later window, or finish(), says how many were omitted.
// Used by one thread: the thread of the event loop.
class Complaints {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kMaxLines = 50;
  static constexpr std::chrono::seconds kWindow{10};

  void warn(const std::string& line, Clock::time_point now = Clock::now());
  void error(const std::string& line, Clock::time_point now = Clock::now());
  // Logs how many lines were omitted, if any.
  void finish();

 private:
  // Returns true if a line may be written now.
  [[nodiscard]] bool allow(Clock::time_point now);

  Clock::time_point window_begin_{};
  std::uint64_t written_ = 0;  // lines written in the current window
  std::uint64_t left_out_ = 0;
};

}  // namespace ttmem::serve
