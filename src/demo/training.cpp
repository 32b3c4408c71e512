// SPDX-License-Identifier: Apache-2.0
//
// Data-parallel training on the two chips of one board. Weights and optimiser state are replicated
// (DRAM high), CBs stream activations (high), activations of the forward pass wait in L1 for the
// backward pass (medium), the same few kernels run all the time (low).
#include <fmt/core.h>

#include "demo/scenario.hpp"
#include "demo/workload.hpp"

namespace ttmem::demo {
namespace {

constexpr std::uint64_t kLayers = 24;
constexpr std::uint64_t kOptimiserSteps = 12;  // two layers each
constexpr std::uint64_t kIteration = 2 * kLayers + kOptimiserSteps;
constexpr std::uint64_t kWeightTiles = 49152;  // of a layer: 96 MiB as bf16

class Training : public Scenario {
 public:
  Training() : machine_(kN300, 2) {
    load_dispatch_kernels(machine_);
    for (int kernel = 0; kernel < 3; ++kernel) machine_.load_kernel(32 * kKiB, TTMEM_KERNEL_APP);
    for (std::uint64_t layer = 0; layer < kLayers; ++layer) {
      machine_.allocate({name(layer, "weights"), TTMEM_DRAM, kBf16Tile, kWeightTiles});
      machine_.allocate({name(layer, "adam"), TTMEM_DRAM, kFp32Tile, kWeightTiles});
    }
    machine_.allocate({"batch.mask", TTMEM_L1, kBf16Tile, 64 * 64});
    machine_.allocate({"batch.positions", TTMEM_L1, kBf16Tile, 64 * 32});
    for (const std::vector<CbRequest>& cbs : transformer_programs(640)) {
      programs_.push_back(machine_.place(cbs));
    }
  }

  // Forward: each layer leaves its activation. Backward: each layer takes it and leaves a
  // gradient. Then the optimiser takes the gradients.
  void step(std::uint64_t number) override {
    machine_.dispatch(programs_[number % programs_.size()]);
    const std::uint64_t at = number % kIteration;
    if (at < kLayers) {
      keep(activations_, {name(at, "activation"), TTMEM_L1, kBf16Tile, 64 * 4 - 9});
    } else if (at < 2 * kLayers) {
      const std::uint64_t layer = 2 * kLayers - 1 - at;
      keep(gradients_, {name(layer, "gradient"), TTMEM_DRAM, kBf16Tile, kWeightTiles});
      drop_last(activations_);
    } else {
      drop_last(gradients_);
      drop_last(gradients_);
    }
  }

  [[nodiscard]] std::size_t devices() const override { return machine_.size(); }

 private:
  static std::string name(std::uint64_t layer, const char* part) {
    return fmt::format("layers.{}.{}", layer, part);
  }

  void keep(std::vector<std::uint64_t>& buffers, const Tensor& tensor) {
    if (const auto buffer = machine_.allocate(tensor)) buffers.push_back(*buffer);
  }

  void drop_last(std::vector<std::uint64_t>& buffers) {
    if (buffers.empty()) return;
    machine_.free(buffers.back());
    buffers.pop_back();
  }

  Machine machine_;
  std::vector<std::uint64_t> programs_;
  std::vector<std::uint64_t> activations_;
  std::vector<std::uint64_t> gradients_;
};

}  // namespace

std::unique_ptr<Scenario> make_training() { return std::make_unique<Training>(); }

}  // namespace ttmem::demo
