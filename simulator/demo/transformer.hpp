// SPDX-License-Identifier: Apache-2.0
//
// What a transformer holds on the chips that serve it.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/demo/mesh.hpp"

namespace ttmem::demo {

struct TransformerShape {
  std::uint64_t layers;
  std::uint64_t hidden;
  std::uint64_t feed_forward;
  std::uint64_t kv_heads_width;  // key plus value columns
  std::uint64_t vocabulary;
};

inline constexpr TransformerShape k1B = {16, 2048, 8192, 1024, 128256};
inline constexpr TransformerShape k8B = {32, 4096, 14336, 2048, 128256};
inline constexpr TransformerShape k70B = {80, 8192, 28672, 2048, 128256};

// Its weights, split over the chips of the mesh, and its embedding table, in DRAM.
[[nodiscard]] std::vector<Tensor> transformer_weights(const Mesh& mesh,
                                                      const TransformerShape& shape);

// One KV cache tensor per layer, `tiles_per_layer` on each chip, in DRAM.
[[nodiscard]] std::vector<Tensor> kv_cache(const Mesh& mesh, std::uint64_t layers,
                                           std::uint64_t tiles_per_layer);

// What its program cache holds: several shapes of each operation, all stacked from the first CB
// address. The largest takes `largest_kib` on every core, 136 or more.
[[nodiscard]] std::vector<Operation> transformer_operations(const Mesh& mesh,
                                                            std::uint64_t largest_kib,
                                                            std::uint64_t kernel_bytes = 0);

}  // namespace ttmem::demo
