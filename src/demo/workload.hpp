// SPDX-License-Identifier: Apache-2.0
//
// The pieces that several scenarios are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "demo/machine.hpp"

namespace ttmem::demo {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kBf16Tile = 2048;  // 32 x 32 elements
inline constexpr std::uint64_t kBfp8Tile = 1088;  // with the shared exponents
inline constexpr std::uint64_t kFp32Tile = 4096;

// What Fast Dispatch keeps loaded on every device from its opening to its closing: 0.2 MB.
void load_dispatch_kernels(Machine& machine);

// A transformer whose weights are split over `chips`.
struct TransformerShape {
  std::uint64_t layers;
  std::uint64_t hidden;
  std::uint64_t feed_forward;
  std::uint64_t kv_heads_width;  // key plus value columns
  std::uint64_t vocabulary;
  std::uint64_t chips;
};

// One chip's share of the weights, and its embedding table, in DRAM.
[[nodiscard]] std::vector<Tensor> transformer_weights(const TransformerShape& shape);

// One KV cache tensor per layer, `tiles_per_layer` each, in DRAM.
[[nodiscard]] std::vector<Tensor> kv_cache(std::uint64_t layers, std::uint64_t tiles_per_layer);

// The cached programs of a transformer: several shapes of each operation, all stacked from the
// first CB address. The largest takes `largest_kib` on every core, 136 or more.
[[nodiscard]] std::vector<std::vector<CbRequest>> transformer_programs(std::uint64_t largest_kib);

}  // namespace ttmem::demo
