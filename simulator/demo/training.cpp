// SPDX-License-Identifier: Apache-2.0
// Data-parallel training on the two chips of one board. Use of each memory (scenario.hpp explains
// the words): DRAM high (replicated weights and optimiser state), CBs high (they stream
// activations), L1 medium (activations of the forward pass wait for the backward pass), kernels low
// (the same few kernels run all the time).
#include <fmt/core.h>

#include "simulator/demo/scenario.hpp"
#include "simulator/demo/transformer.hpp"

namespace ttmem::demo {
namespace {

using tm::BufferType;

constexpr std::uint64_t kLayers = 24;
constexpr std::uint64_t kOptimiserSteps = 12;  // each step updates two layers
constexpr std::uint64_t kIteration = 2 * kLayers + kOptimiserSteps;
constexpr std::uint64_t kWeightTiles = 49152;  // tiles of one layer: 96 MiB as bf16
constexpr std::uint64_t kTrainingKernelBytes = 1536;

class Training : public Scenario {
 public:
  Training()
      : Scenario(kN300), operations_(transformer_operations(mesh, 640, kTrainingKernelBytes)) {
    for (std::uint64_t layer = 0; layer < kLayers; ++layer) {
      weights_.push_back(tensor(layer, "weights", BufferType::DRAM, kBf16Tile, kWeightTiles));
      weights_.push_back(tensor(layer, "adam", BufferType::DRAM, kFp32Tile, kWeightTiles));
    }
    batch_.push_back(interleaved(mesh, "batch.mask", BufferType::L1, kBf16Tile, 64 * 64));
    batch_.push_back(interleaved(mesh, "batch.positions", BufferType::L1, kBf16Tile, 64 * 32));
    for (Operation& operation : operations_) operation.run();
  }

  // Runs one operation, together with the allocations of one layer or of one optimiser step. In the
  // forward pass, the layer allocates its activation. In the backward pass, the layer frees its
  // activation and allocates its gradient. An optimiser step frees the gradients of two layers.
  void step(std::uint64_t number) override {
    operations_[number % operations_.size()].run();
    const std::uint64_t at = number % kIteration;
    if (at < kLayers) {
      activations_.push_back(tensor(at, "activation", BufferType::L1, kBf16Tile, 64 * 4 - 9));
    } else if (at < 2 * kLayers) {
      const std::uint64_t layer = 2 * kLayers - 1 - at;
      gradients_.push_back(tensor(layer, "gradient", BufferType::DRAM, kBf16Tile, kWeightTiles));
      activations_.pop_back();
    } else {
      gradients_.pop_back();
      gradients_.pop_back();
    }
  }

 private:
  [[nodiscard]] Tensor tensor(std::uint64_t layer, const char* part, BufferType type,
                              std::uint64_t page_bytes, std::uint64_t pages) const {
    return interleaved(mesh, fmt::format("layers.{}.{}", layer, part), type, page_bytes, pages);
  }

  std::vector<Operation> operations_;
  std::vector<Tensor> weights_;  // includes the optimiser's state
  std::vector<Tensor> batch_;
  std::vector<Tensor> activations_;
  std::vector<Tensor> gradients_;
};

}  // namespace

std::unique_ptr<Scenario> make_training() { return std::make_unique<Training>(); }

}  // namespace ttmem::demo
