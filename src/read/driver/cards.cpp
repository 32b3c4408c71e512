// SPDX-License-Identifier: Apache-2.0
#include "read/driver/cards.hpp"

#include <algorithm>
#include <array>

namespace ttmem::driver {
namespace {

constexpr Card wormhole(std::string_view type, std::uint32_t chips, std::uint16_t grid_x,
                        std::uint16_t grid_y) {
  return {type, "wormhole_b0", chips, 12, std::uint64_t{1} << 30, 1499136, grid_x, grid_y};
}

constexpr Card blackhole(std::string_view type, std::uint32_t chips, std::uint32_t dram_channels) {
  return {type, "blackhole", chips, dram_channels, 4278190080, 1572864, 0, 0};
}

constexpr std::array kCards = {
    wormhole("n150", 1, 8, 8), wormhole("n300", 2, 0, 0), wormhole("galaxy-wormhole", 1, 0, 0),
    blackhole("p100", 1, 7),   blackhole("p100a", 1, 7),  blackhole("p150a", 1, 8),
    blackhole("p150b", 1, 8),  blackhole("p150c", 1, 8),  blackhole("p300a", 2, 8),
    blackhole("p300b", 2, 8),  blackhole("p300c", 2, 8),  blackhole("galaxy-blackhole", 1, 8),
};

// The properties that all Wormhole and all Blackhole chips share.
constexpr std::array kChips = {wormhole("", 0, 0, 0), blackhole("", 0, 0)};

}  // namespace

const Card* find_chip(std::string_view arch) {
  const auto* const found = std::find_if(kChips.begin(), kChips.end(),
                                         [&](const Card& card) { return card.arch == arch; });
  return found == kChips.end() ? nullptr : found;
}

const Card* find_card(std::string_view type) {
  const auto* const found = std::find_if(kCards.begin(), kCards.end(),
                                         [&](const Card& card) { return card.type == type; });
  return found == kCards.end() ? nullptr : found;
}

}  // namespace ttmem::driver
