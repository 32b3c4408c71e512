// SPDX-License-Identifier: Apache-2.0
//
// TT-Metal reports errors by throwing, so this does too.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace tt::tt_metal::dryrun {

template <typename... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw std::runtime_error(cat(parts...));
}

template <typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

}  // namespace tt::tt_metal::dryrun
