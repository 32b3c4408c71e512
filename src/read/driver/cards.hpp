// SPDX-License-Identifier: Apache-2.0
//
// What is known of a chip by the type of its card alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace ttmem::driver {

// One chip of a card. What differs from card to card, or depends on how a program opens it, is 0:
// unknown.
struct Card {
  std::string_view type;  // as the driver names it: "n300"
  std::string_view arch;
  std::uint32_t chips = 1;  // on the card; all but the first may be reached through others only
  std::uint32_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint32_t l1_bytes_per_core = 0;
  // The compute grid. An n300 or a Galaxy has one row more when Ethernet cores dispatch; of a
  // Blackhole one or two columns may be harvested.
  std::uint16_t grid_x = 0;
  std::uint16_t grid_y = 0;
};

// Null: not a type that is known.
[[nodiscard]] const Card* find_card(std::string_view type);
// What all cards with this chip have in common; its type is empty. Null: not one that is known.
[[nodiscard]] const Card* find_chip(std::string_view arch);

}  // namespace ttmem::driver
