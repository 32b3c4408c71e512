// SPDX-License-Identifier: Apache-2.0
#include "demo/workload.hpp"

#include <fmt/core.h>

#include <initializer_list>

namespace ttmem::demo {
namespace {

// Tiles of a rows x columns matrix.
std::uint64_t tiles(std::uint64_t rows, std::uint64_t columns) {
  return ((rows + 31) / 32) * ((columns + 31) / 32);
}

std::vector<CbRequest> stack(std::initializer_list<std::uint64_t> kib) {
  std::vector<CbRequest> cbs;
  for (std::uint64_t size : kib) cbs.push_back({.bytes = size * kKiB});
  return cbs;
}

}  // namespace

void load_dispatch_kernels(Machine& machine) {
  constexpr std::uint64_t kPrefetch = 72 * kKiB;
  constexpr std::uint64_t kDispatch = 68 * kKiB;
  constexpr std::uint64_t kCompletionQueue = 64 * kKiB;
  for (std::uint64_t bytes : {kPrefetch, kDispatch, kCompletionQueue}) {
    machine.load_kernel(bytes, TTMEM_KERNEL_DISPATCH);
  }
}

std::vector<Tensor> transformer_weights(const TransformerShape& shape) {
  const std::uint64_t split_ff = shape.feed_forward / shape.chips;
  const std::uint64_t split_hidden = shape.hidden / shape.chips;
  const std::uint64_t split_qkv = (shape.hidden + shape.kv_heads_width) / shape.chips;
  std::vector<Tensor> tensors;
  for (std::uint64_t layer = 0; layer < shape.layers; ++layer) {
    const auto add = [&](const char* part, std::uint64_t rows, std::uint64_t columns) {
      tensors.push_back({.label = fmt::format("layers.{}.{}", layer, part),
                         .page_bytes = kBfp8Tile,
                         .pages = tiles(rows, columns)});
    };
    add("wqkv", shape.hidden, split_qkv);
    add("wo", split_hidden, shape.hidden);
    add("w1", shape.hidden, split_ff);
    add("w3", shape.hidden, split_ff);
    add("w2", split_ff, shape.hidden);
  }
  tensors.push_back({.label = "tok_embeddings",
                     .page_bytes = shape.hidden * 2,  // row major bf16
                     .pages = shape.vocabulary / shape.chips});
  tensors.push_back({.label = "lm_head",
                     .page_bytes = kBfp8Tile,
                     .pages = tiles(shape.hidden, shape.vocabulary / shape.chips)});
  return tensors;
}

std::vector<Tensor> kv_cache(std::uint64_t layers, std::uint64_t tiles_per_layer) {
  std::vector<Tensor> tensors;
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    tensors.push_back({.label = fmt::format("layers.{}.kv_cache", layer),
                       .page_bytes = kBfp8Tile,
                       .pages = tiles_per_layer});
  }
  return tensors;
}

std::vector<std::vector<CbRequest>> transformer_programs(std::uint64_t largest_kib) {
  constexpr ttmem_core_range kUpperHalf = {0, 0, 7, 3};
  constexpr ttmem_core_range kLowerHalf = {0, 4, 7, 7};
  constexpr ttmem_core_range kCorner = {0, 0, 3, 3};
  std::vector<std::vector<CbRequest>> programs = {
      stack({32, 4, 32}),                          // rms_norm
      {{.bytes = 16 * kKiB, .cores = kCorner}},    // rms_norm, one user
      stack({16, 16, 8}),                          // rotary embedding
      {{.bytes = 32 * kKiB, .cores = kUpperHalf},  // query heads on one half,
       {.bytes = 24 * kKiB, .cores = kLowerHalf},  // key heads on the other
       {.bytes = 8 * kKiB}},
      stack({48, 32, 16, 8}),  // attention, decode
      stack({64, 32, 32, 8}),  // attention, prefill
      stack({8, 8}),           // residual add
      stack({24, 24, 24}),     // silu and multiply
  };
  // Matmuls: two blocks of operands, the partial sums, the output; double buffered when it fits.
  for (std::uint64_t share : {4UL, 2UL, 1UL}) {
    const std::uint64_t total = largest_kib / share;
    const std::uint64_t block = total / 4;
    const std::uint64_t output = total / 8;
    programs.push_back(stack({block, block, block, total - 3 * block - output, output}));
  }
  return programs;
}

}  // namespace ttmem::demo
