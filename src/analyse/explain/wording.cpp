// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/wording.hpp"

#include <fmt/format.h>

#include "base/format_bytes.hpp"

namespace ttmem::explain {

std::string exact(std::uint64_t bytes) {
  const std::string digits = std::to_string(bytes);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text + " B";
}

std::string sized(std::uint64_t bytes) {
  constexpr std::uint64_t rounded_from = 1024;  // smaller sizes are not rounded
  if (bytes < rounded_from) return exact(bytes);
  return fmt::format("{} ({})", format_bytes(bytes, Scale::core), exact(bytes));
}

std::string title_of(Kind kind) {
  switch (kind) {
    case Kind::dram:
      return "DRAM";
    case Kind::l1:
      return "L1";
    case Kind::l1_small:
      return "L1_SMALL";
    default:
      return std::string(ttmem::name_of(kind));
  }
}

std::string listed(std::span<const BufferHolder> holders) {
  constexpr std::size_t most = 3;
  std::string text;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    bytes += holders[i].bytes_per_bank;
    if (i >= most) continue;
    if (i > 0) text += i + 1 == holders.size() ? " and " : ", ";
    text += name_of(holders[i]);
  }
  if (holders.size() > most) text += fmt::format(" and {} more", holders.size() - most);
  return fmt::format("{} ({} in each bank)", text, format_bytes(bytes, Scale::core));
}

std::string place_of(const DeviceMemory& memory) {
  const model::Device& device = *memory.device;
  std::string what = device.arch;
  if (!device.board.empty()) what += (what.empty() ? "" : ", ") + device.board;
  std::string text = fmt::format("Device {}", device.id);
  if (!what.empty()) text += fmt::format(" ({})", what);
  const model::Process& process = *memory.process;
  if (process.pid == 0) return fmt::format("{}, process {}", text, process.name);
  return fmt::format("{}, process {} ({}{})", text, process.pid, process.name,
                     process.state == model::State::dead ? ", dead" : "");
}

}  // namespace ttmem::explain
