// SPDX-License-Identifier: Apache-2.0
//
// A large model served by eight chips. Its weights and KV cache nearly fill DRAM (very high),
// little stays in L1 between operations (low), CBs stream tiles (medium), and prompts of many
// shapes load many kernels (medium).
#include <fmt/core.h>

#include <deque>

#include "demo/scenario.hpp"
#include "demo/workload.hpp"

namespace ttmem::demo {
namespace {

constexpr std::uint64_t kStepsPerPrompt = 20;
constexpr std::uint64_t kPrefillSteps = 3;
constexpr std::size_t kMaxCacheBlocks = 80;
constexpr std::size_t kBlocksPerRequest = 20;
constexpr std::size_t kMinKernels = 6;
constexpr std::size_t kMaxKernels = 14;

class Inference : public Scenario {
 public:
  Inference() : machine_(kN300, 8, MemoryConfig{.trace_bytes_per_bank = 4096 * kKiB}) {
    load_dispatch_kernels(machine_);
    allocate(transformer_weights({.layers = 80,
                                  .hidden = 8192,
                                  .feed_forward = 28672,
                                  .kv_heads_width = 2048,
                                  .vocabulary = 128256,
                                  .chips = 8}));
    allocate(kv_cache(80, 16384));
    allocate({{"decode.trace", TTMEM_TRACE, 4096, 12 * 700},
              {"decode.residual", TTMEM_L1, kBf16Tile, 64 * 16},
              {"decode.attention_out", TTMEM_L1, kBf16Tile, 64 * 12 - 7}});
    for (const std::vector<CbRequest>& cbs : transformer_programs(272)) {
      programs_.push_back(machine_.place(cbs));
    }
    while (kernels_.size() < kMinKernels) load_kernel();
  }

  void step(std::uint64_t number) override {
    const std::uint64_t at = number % kStepsPerPrompt;
    if (at == 0) begin_prompt(number / kStepsPerPrompt);
    if (at < kPrefillSteps) {
      machine_.dispatch(programs_[number % programs_.size()]);
    } else {
      machine_.replay_trace(programs_);
    }
    if (at == kPrefillSteps) end_prefill();
    if (kernels_.size() < kMaxKernels) load_kernel();
    extend_cache(number);
  }

  [[nodiscard]] std::size_t devices() const override { return machine_.size(); }

 private:
  void allocate(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) machine_.allocate(tensor);
  }

  // A prompt of a new shape: its kernels push the older ones out of the ring.
  void begin_prompt(std::uint64_t prompt) {
    while (kernels_.size() > kMinKernels) {
      machine_.unload_kernel(kernels_.front());
      kernels_.pop_front();
    }
    prompt_ =
        machine_.allocate({fmt::format("prompt.{}.hidden", prompt), TTMEM_L1, kBf16Tile, 64 * 20});
  }

  void end_prefill() {
    if (prompt_) machine_.free(*prompt_);
    prompt_.reset();
  }

  void load_kernel() { kernels_.push_back(machine_.load_kernel(64 * kKiB, TTMEM_KERNEL_APP)); }

  // Requests take a block of the prefix cache at a time; a finished one gives its blocks back.
  void extend_cache(std::uint64_t number) {
    if (cache_blocks_.size() == kMaxCacheBlocks) {
      for (std::size_t block = 0; block < kBlocksPerRequest; ++block) {
        machine_.free(cache_blocks_.front());
        cache_blocks_.pop_front();
      }
    }
    const Tensor block = {fmt::format("prefix_cache.{}", number), TTMEM_DRAM, kBfp8Tile, 7680};
    if (const auto buffer = machine_.allocate(block)) cache_blocks_.push_back(*buffer);
  }

  Machine machine_;
  std::vector<std::uint64_t> programs_;
  std::deque<std::uint64_t> kernels_;       // of the application, oldest first
  std::deque<std::uint64_t> cache_blocks_;  // oldest first
  std::optional<std::uint64_t> prompt_;     // while it is prefilled
};

}  // namespace

std::unique_ptr<Scenario> make_inference() { return std::make_unique<Inference>(); }

}  // namespace ttmem::demo
