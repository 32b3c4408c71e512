// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "segment/layout/layout.hpp"

namespace ttmem::segment {

// Returns the public form of run ids, without half of their random digits. The full ids are not
// public, because a user who knows a full id can add a process to the recording of that run.
//
// "4711.4026531836.88123.9f3a01bc77d2.r" -> "4711.4026531836.88123.9f3a01.r"
[[nodiscard]] inline std::string public_run_ids(std::string_view ids) {
  constexpr std::size_t digits = 12;
  constexpr std::size_t public_digits = 6;
  std::string text;
  while (!ids.empty()) {
    const std::string_view id = ids.substr(0, ids.find(kRunSeparator));
    ids.remove_prefix(std::min(id.size() + 1, ids.size()));
    if (!text.empty()) text += kRunSeparator;
    std::size_t dot = id.find('.');
    for (int i = 0; i < 2 && dot != std::string_view::npos; ++i) dot = id.find('.', dot + 1);
    const bool is_whole = dot != std::string_view::npos && id.size() > dot + digits;
    text += is_whole ? id.substr(0, dot + 1 + public_digits) : id;
    if (is_whole) text += id.substr(dot + 1 + digits);
  }
  return text;
}

}  // namespace ttmem::segment
