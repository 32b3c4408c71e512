// SPDX-License-Identifier: Apache-2.0
// A large model on eight chips. Use of each memory (scenario.hpp explains the words): DRAM very
// high (weights and KV cache), L1 low between operations, CBs medium (they stream tiles), kernels
// medium (many operations).
#include <fmt/core.h>

#include <deque>

#include "simulator/demo/scenario.hpp"
#include "simulator/demo/transformer.hpp"

namespace ttmem::demo {
namespace {

using tm::BufferType;

constexpr std::uint64_t kStepsPerPrompt = 20;
constexpr std::uint64_t kPrefillSteps = 3;
constexpr std::size_t kMaxCacheBlocks = 80;
constexpr std::size_t kBlocksPerRequest = 20;
constexpr std::uint64_t kInferenceKernelBytes = 14 * kKiB;

class Inference : public Scenario {
 public:
  Inference()
      : Scenario(kT3000),
        weights_(transformer_weights(mesh, k70B)),
        kv_cache_(kv_cache(mesh, k70B.layers, 16384)),
        residual_(interleaved(mesh, "decode.residual", BufferType::L1, kBf16Tile, 64 * 16)),
        attention_out_(
            interleaved(mesh, "decode.attention_out", BufferType::L1, kBf16Tile, 64 * 12 - 7)),
        operations_(transformer_operations(mesh, 272, kInferenceKernelBytes)),
        decode_(mesh, operations_, k70B.layers) {}

  void step(std::uint64_t number) override {
    const std::uint64_t at = number % kStepsPerPrompt;
    if (at == 0) {
      prompt_ = interleaved(mesh, fmt::format("prompt.{}.hidden", number / kStepsPerPrompt),
                            BufferType::L1, kBf16Tile, 64 * 20);
    }
    if (at == kPrefillSteps) prompt_.reset();
    if (at < kPrefillSteps) {
      operations_[number % operations_.size()].run();
    } else {
      decode_.replay();
    }
    extend_cache(number);
  }

 private:
  // Allocates one block of the prefix cache. If the cache is full, first frees the blocks of the
  // oldest request.
  void extend_cache(std::uint64_t number) {
    if (cache_blocks_.size() == kMaxCacheBlocks) {
      cache_blocks_.erase(cache_blocks_.begin(), cache_blocks_.begin() + kBlocksPerRequest);
    }
    cache_blocks_.push_back(interleaved(mesh, fmt::format("prefix_cache.{}", number),
                                        BufferType::DRAM, kBfp8Tile, 7680));
  }

  const std::vector<Tensor> weights_;
  const std::vector<Tensor> kv_cache_;
  const Tensor residual_;
  const Tensor attention_out_;
  std::vector<Operation> operations_;
  const MeshTrace decode_;
  std::deque<Tensor> cache_blocks_;  // oldest block first
  Tensor prompt_;                    // null except during a prefill
};

}  // namespace

std::unique_ptr<Scenario> make_inference() { return std::make_unique<Inference>(); }

}  // namespace ttmem::demo
