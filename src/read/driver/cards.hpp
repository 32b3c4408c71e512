// SPDX-License-Identifier: Apache-2.0
// The properties of a chip that follow from the type of its card alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace ttmem::driver {

// One chip of a card. A figure is 0 (unknown) if it differs from card to card, or depends on how a
// process opens the chip.
struct Card {
  std::string_view type;  // as the driver names it: "n300"
  std::string_view arch;
  // Number of chips on the card. All but the first may be reachable only through other chips.
  std::uint32_t chips = 1;
  std::uint32_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint32_t l1_bytes_per_core = 0;
  // The compute grid. An n300 or a Galaxy has one more row if dispatch runs on Ethernet cores. A
  // Blackhole may have one or two columns harvested.
  std::uint16_t grid_x = 0;
  std::uint16_t grid_y = 0;
};

// Finds a card by its type. Returns null if the type is unknown.
[[nodiscard]] const Card* find_card(std::string_view type);
// Returns the properties that all cards with this chip share, with an empty type; null if the
// architecture is unknown.
[[nodiscard]] const Card* find_chip(std::string_view arch);

}  // namespace ttmem::driver
