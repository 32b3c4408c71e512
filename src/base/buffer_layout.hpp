// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem {

// Describes how a buffer is spread over its banks, as far as its owner reported this. `ttmem fit`
// uses the layout to place the buffer on another board.
struct BufferLayout {
  enum class Spread : std::uint8_t { unknown, interleaved, sharded };
  // The end of a bank from which the buffer was allocated. `usual` is the runtime's default for the
  // kind: the bottom for DRAM and traces, the top for L1.
  enum class Direction : std::uint8_t { usual, bottom_up, top_down };

  Spread spread = Spread::unknown;
  Direction direction = Direction::usual;
  // For shards in DRAM: number of the last bank with a shard, plus 1.
  std::uint32_t shard_banks = 0;
  // The size of a page; 0 means unknown. Segments store no page size for a buffer with its own set
  // of cores.
  std::uint64_t page_bytes = 0;

  friend bool operator==(const BufferLayout&, const BufferLayout&) = default;
};

}  // namespace ttmem
