// SPDX-License-Identifier: Apache-2.0
#include "simulator/demo/transformer.hpp"

#include <fmt/core.h>

#include <initializer_list>

namespace ttmem::demo {
namespace {

// Returns the number of tiles of a rows x columns matrix.
std::uint64_t tiles(std::uint64_t rows, std::uint64_t columns) {
  return ((rows + 31) / 32) * ((columns + 31) / 32);
}

std::vector<CbOfOperation> stack(std::initializer_list<std::uint64_t> kib) {
  std::vector<CbOfOperation> cbs;
  for (std::uint64_t size : kib) cbs.push_back({.bytes = size * kKiB});
  return cbs;
}

}  // namespace

std::vector<Tensor> transformer_weights(const Mesh& mesh, const TransformerShape& shape) {
  const std::uint64_t chips = mesh->num_devices();
  const std::uint64_t split_ff = shape.feed_forward / chips;
  const std::uint64_t split_hidden = shape.hidden / chips;
  const std::uint64_t split_qkv = (shape.hidden + shape.kv_heads_width) / chips;
  const std::uint64_t split_vocabulary = shape.vocabulary / chips;
  std::vector<Tensor> tensors;
  const auto add = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    tensors.push_back(
        interleaved(mesh, name, tm::BufferType::DRAM, kBfp8Tile, tiles(rows, columns)));
  };
  for (std::uint64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string prefix = fmt::format("layers.{}.", layer);
    add(prefix + "wqkv", shape.hidden, split_qkv);
    add(prefix + "wo", split_hidden, shape.hidden);
    add(prefix + "w1", shape.hidden, split_ff);
    add(prefix + "w3", shape.hidden, split_ff);
    add(prefix + "w2", split_ff, shape.hidden);
  }
  tensors.push_back(interleaved(mesh, "tok_embeddings", tm::BufferType::DRAM,
                                shape.hidden * 2,  // one row in bf16
                                split_vocabulary));
  add("lm_head", shape.hidden, split_vocabulary);
  return tensors;
}

std::vector<Tensor> kv_cache(const Mesh& mesh, std::uint64_t layers,
                             std::uint64_t tiles_per_layer) {
  std::vector<Tensor> tensors;
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    tensors.push_back(interleaved(mesh, fmt::format("layers.{}.kv_cache", layer),
                                  tm::BufferType::DRAM, kBfp8Tile, tiles_per_layer));
  }
  return tensors;
}

std::vector<Operation> transformer_operations(const Mesh& mesh, std::uint64_t largest_kib,
                                              std::uint64_t kernel_bytes) {
  const tm::CoreRange upper_half({0, 0}, {7, 3});
  const tm::CoreRange lower_half({0, 4}, {7, 7});
  const tm::CoreRange corner({0, 0}, {3, 3});
  std::vector<std::vector<CbOfOperation>> programs = {
      stack({32, 4, 32}),                          // rms_norm
      {{.bytes = 16 * kKiB, .cores = corner}},     // rms_norm, one user
      stack({16, 16, 8}),                          // rotary embedding
      {{.bytes = 32 * kKiB, .cores = upper_half},  // query heads on the upper half
       {.bytes = 24 * kKiB, .cores = lower_half},  // key heads on the lower half
       {.bytes = 8 * kKiB}},
      stack({48, 32, 16, 8}),  // attention, decode
      stack({64, 32, 32, 8}),  // attention, prefill
      stack({8, 8}),           // residual add
      stack({24, 24, 24}),     // silu and multiply
  };
  // Matmuls in three sizes. Each has five CBs: three blocks of operands, one of partial sums, and
  // the output.
  for (std::uint64_t share : {4UL, 2UL, 1UL}) {
    const std::uint64_t total = largest_kib / share;
    const std::uint64_t block = total / 4;
    const std::uint64_t output = total / 8;
    programs.push_back(stack({block, block, block, total - 3 * block - output, output}));
  }
  std::vector<Operation> operations;
  operations.reserve(programs.size());
  for (const std::vector<CbOfOperation>& cbs : programs)
    operations.emplace_back(mesh, cbs, kernel_bytes);
  return operations;
}

}  // namespace ttmem::demo
