// SPDX-License-Identifier: Apache-2.0
// The allocations of a transformer on the chips that serve it.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/demo/mesh.hpp"

namespace ttmem::demo {

struct TransformerShape {
  std::uint64_t layers;
  std::uint64_t hidden;
  std::uint64_t feed_forward;
  std::uint64_t kv_heads_width;  // columns of keys and values
  std::uint64_t vocabulary;
};

inline constexpr TransformerShape k1B = {16, 2048, 8192, 1024, 128256};
inline constexpr TransformerShape k8B = {32, 4096, 14336, 2048, 128256};
inline constexpr TransformerShape k70B = {80, 8192, 28672, 2048, 128256};

// Allocates the weights and the embedding table in DRAM, split over the chips of the mesh.
[[nodiscard]] std::vector<Tensor> transformer_weights(const Mesh& mesh,
                                                      const TransformerShape& shape);

// Allocates one KV cache tensor for each layer in DRAM. Each tensor has `tiles_per_layer` tiles on
// each chip.
[[nodiscard]] std::vector<Tensor> kv_cache(const Mesh& mesh, std::uint64_t layers,
                                           std::uint64_t tiles_per_layer);

// Makes the programs that a transformer keeps in its program cache. The circular buffers of each
// program are stacked from the first CB address. The largest program takes `largest_kib` on every
// core; `largest_kib` must be at least 136.
[[nodiscard]] std::vector<Operation> transformer_operations(const Mesh& mesh,
                                                            std::uint64_t largest_kib,
                                                            std::uint64_t kernel_bytes = 0);

}  // namespace ttmem::demo
