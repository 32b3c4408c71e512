// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/core_text.hpp"

#include <algorithm>
#include <vector>

#include "base/format_ids.hpp"
#include "base/parse_number.hpp"

namespace ttmem::recording {

std::string core_text(const CoreMask& cores) {
  std::vector<std::uint32_t> numbers;
  cores.for_each([&](std::uint32_t core) { numbers.push_back(core); });
  return format_ids(numbers);
}

std::optional<CoreMask> parse_cores(std::string_view text) {
  CoreMask cores;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), range.size() + 1));
    const std::size_t dash = range.find('-');
    const auto first = parse_number<std::uint32_t>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_number<std::uint32_t>(range.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMaxCores) return std::nullopt;
    cores |= CoreMask::first(*last + 1) - CoreMask::first(*first);
  }
  return cores;
}

}  // namespace ttmem::recording
