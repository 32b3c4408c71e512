// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace ttmem::tui {

bool contains(std::string_view text, std::string_view filter) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), filter.begin(), filter.end(), same) != text.end() ||
         filter.empty();
}

bool filters_devices(const ViewState& state) {
  return !state.filter.empty() && (state.view == View::detailed || state.view == View::charts);
}

model::Snapshot devices_matching(const model::Snapshot& snapshot, std::string_view filter) {
  model::Snapshot result;
  result.time_unix_ns = snapshot.time_unix_ns;
  result.host = snapshot.host;
  result.warnings = snapshot.warnings;
  for (const model::Device& device : snapshot.devices) {
    const std::string text = fmt::format("device {} {} {} {:#x}", device.id, device.board,
                                         device.arch, device.uid.value_or(0));
    if (contains(text, filter)) result.devices.push_back(device);
  }
  return result;
}

}  // namespace ttmem::tui
