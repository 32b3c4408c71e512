// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem {

// How a buffer is spread over its banks, as far as its owner reported it. Needed to place the
// buffer on another board.
struct BufferLayout {
  enum class Spread : std::uint8_t { unknown, interleaved, sharded };
  // The end of a bank from which the buffer was allocated. `usual` is the runtime's default for the
  // kind: the bottom for DRAM and traces, the top for L1.
  enum class Direction : std::uint8_t { usual, bottom_up, top_down };

  Spread spread = Spread::unknown;
  Direction direction = Direction::usual;
  std::uint32_t shard_banks = 0;  // for shards in DRAM: one past the last bank that has a shard
  std::uint64_t page_bytes = 0;   // 0 means unknown; not recorded for a buffer on cores of its own

  friend bool operator==(const BufferLayout&, const BufferLayout&) = default;
};

}  // namespace ttmem
