// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/known_chips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analyse/explain/wording.hpp"
#include "read/placement/board.hpp"

namespace ttmem::explain {
namespace {

using placement::Arch;
using placement::ChipSpec;

const std::array<const ChipSpec*, 2>& known_chips() {
  static const std::array chips = {placement::find_chip(placement::name_of(Arch::wormhole_b0)),
                                   placement::find_chip(placement::name_of(Arch::blackhole))};
  return chips;
}

std::uint64_t bank_bytes(const ChipSpec& chip, Kind kind) {
  return is_in_dram(kind) ? chip.dram_bytes_per_channel : chip.l1_bytes_per_core;
}

// Returns the part of a bank that the runtime reserves at the low addresses.
std::uint64_t reserved_bytes(const ChipSpec& chip, Kind kind) {
  return is_in_dram(kind) ? chip.dram_base : chip.l1_base;
}

std::string chip_title(const ChipSpec& chip) {
  return chip.arch == Arch::wormhole_b0 ? "Wormhole" : "Blackhole";
}

// Returns the numbers of DRAM channels that boards with this chip have.
std::vector<std::uint32_t> channels_of(const ChipSpec& chip) {
  std::vector<std::uint32_t> channels;
  for (const std::string_view name : placement::board_names()) {
    const auto board = placement::find_board(name);
    if (board && board->chip.arch == chip.arch) channels.push_back(board->dram_channels);
  }
  return channels;
}

// Returns true if the number and the size of the banks in the request are possible on this chip. An
// allocator can have fewer L1 banks than the chip has cores, because a sub-device has an allocator
// of its own. Much smaller banks belong to a chip that is not in the table.
bool can_have(const ChipSpec& chip, const BankRequest& request) {
  const std::uint64_t most = bank_bytes(chip, request.kind);
  if (*request.bank > most || *request.bank <= most / 4 * 3) return false;
  if (request.kind != Kind::dram) return *request.banks <= chip.die_grid.x * chip.die_grid.y;
  const std::vector<std::uint32_t> channels = channels_of(chip);
  return std::find(channels.begin(), channels.end(), *request.banks) != channels.end();
}

// Returns for example "1,499,136 B on Wormhole and 1,572,864 B on Blackhole".
std::string sizes_of(const std::vector<const ChipSpec*>& chips, Kind kind) {
  std::string text;
  for (const ChipSpec* chip : chips) {
    text += fmt::format("{}{} on {}", text.empty() ? "" : " and ", exact(bank_bytes(*chip, kind)),
                        chip_title(*chip));
  }
  return text;
}

}  // namespace

std::uint64_t largest_known_bank(Kind kind) {
  std::uint64_t most = 0;
  for (const ChipSpec* chip : known_chips()) most = std::max(most, bank_bytes(*chip, kind));
  return most;
}

std::uint64_t largest_known_memory(Kind kind) {
  std::uint64_t most = 0;
  for (const ChipSpec* chip : known_chips()) {
    const std::vector<std::uint32_t> channels = channels_of(*chip);
    const std::uint64_t banks = is_in_dram(kind)
                                    ? *std::max_element(channels.begin(), channels.end())
                                    : std::uint64_t{chip->die_grid.x} * chip->die_grid.y;
    most = std::max(most, banks * bank_bytes(*chip, kind));
  }
  return most;
}

std::optional<SetApart> set_apart(const BankRequest& request) {
  const bool is_dram = request.kind == Kind::dram;
  if ((!is_dram && request.kind != Kind::l1) || !request.bank || !request.banks) {
    return std::nullopt;
  }
  std::vector<const ChipSpec*> chips;
  for (const ChipSpec* chip : known_chips()) {
    if (can_have(*chip, request)) chips.push_back(chip);
  }
  if (chips.empty()) return std::nullopt;
  std::uint64_t least = ~0ULL;
  for (const ChipSpec* chip : chips) {
    const std::uint64_t usable =
        bank_bytes(*chip, request.kind) - reserved_bytes(*chip, request.kind);
    least = std::min(least, usable - std::min(usable, *request.bank));
  }
  if (least == 0) return std::nullopt;
  const char* of_whom = is_dram ? "A DRAM channel" : "The L1 of a core";
  const char* region = is_dram ? "traces (trace_region_size)" : "L1_SMALL (l1_small_size)";
  const std::string rest =
      chips.size() == 1
          ? fmt::format("{} of it are", exact(bank_bytes(*chips[0], request.kind) - *request.bank))
          : std::string("the rest is");
  return SetApart{
      fmt::format("{} has {}, a bank {}: {} set apart for {} or reserved by the runtime.", of_whom,
                  sizes_of(chips, request.kind), exact(*request.bank), rest, region),
      least};
}

}  // namespace ttmem::explain
