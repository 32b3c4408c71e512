// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/complaints.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace ttmem::serve {

void Complaints::warn(const std::string& line, Clock::time_point now) {
  if (allow(now)) spdlog::warn("{}", line);
}

void Complaints::error(const std::string& line, Clock::time_point now) {
  if (allow(now)) spdlog::error("{}", line);
}

void Complaints::finish() {
  const std::uint64_t count = std::exchange(left_out_, 0);
  if (count > 0) spdlog::warn("left out {} lines about clients that misbehave", count);
}

bool Complaints::allow(Clock::time_point now) {
  if (written_ == 0 || now - window_begin_ >= kWindow) {
    finish();
    window_begin_ = now;
    written_ = 0;
  }
  if (written_ < kMaxLines) {
    ++written_;
    return true;
  }
  if (left_out_++ == 0) {
    spdlog::warn("more lines about clients that misbehave are left out for {} seconds",
                 kWindow.count());
  }
  return false;
}

}  // namespace ttmem::serve
