// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem {

// How a buffer lies in its banks, as far as its owner said: what is needed to place it on another
// board.
struct BufferLayout {
  enum class Spread : std::uint8_t { unknown, interleaved, sharded };
  // From which end of a bank it was taken. `usual`: as the runtime does it for that kind, DRAM and
  // traces from the bottom, L1 from the top.
  enum class Direction : std::uint8_t { usual, bottom_up, top_down };

  Spread spread = Spread::unknown;
  Direction direction = Direction::usual;
  std::uint32_t shard_banks = 0;  // of shards in DRAM: the last bank that has one, plus one
  std::uint64_t page_bytes = 0;   // 0: unknown. Not kept of what lies on cores of its own.

  friend bool operator==(const BufferLayout&, const BufferLayout&) = default;
};

}  // namespace ttmem
