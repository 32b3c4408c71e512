// SPDX-License-Identifier: Apache-2.0
// Scenarios with constant figures. The sizes are chosen so that the figures can be checked by hand;
// comments show the sums. The kernels of the programs are not counted.
#include <fmt/core.h>

#include <string>
#include <utility>

#include "simulator/demo/scenario.hpp"
#include "simulator/demo/transformer.hpp"

namespace ttmem::demo {
namespace {

using tm::BufferType;

// A scenario that runs its operations one after the other, repeatedly, while its tensors stay.
class Steady : public Scenario {
 public:
  using Scenario::Scenario;

  void hold(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
  void hold(std::vector<Tensor> tensors) {
    for (Tensor& tensor : tensors) hold(std::move(tensor));
  }
  void run_in_turn(std::vector<Operation> operations) {
    operations_ = std::move(operations);
    for (Operation& operation : operations_) operation.run();
  }
  // Captures a trace that runs all operations once for each layer.
  void capture(std::size_t layers) { trace_.emplace(mesh, operations_, layers); }

  void step(std::uint64_t number) override {
    if (!operations_.empty()) operations_[number % operations_.size()].run();
  }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Operation> operations_;
  std::optional<MeshTrace> trace_;
};

// Fills L1 of 64 cores: CBs 464 KiB per core = 29.0 MiB; L1 buffers 256 KiB per core = 16.0 MiB;
// L1_SMALL 1632 B per core = 0.1 MiB; dispatch kernels 0.2 MiB. Total 45.3 MiB.
void fill_l1_of_64_cores(Steady& scenario) {
  const Mesh& mesh = scenario.mesh;
  scenario.hold(interleaved(mesh, "decode.residual", BufferType::L1, kBf16Tile, 64 * 32));
  for (const char* name : {"decode.attention_out", "decode.ff_in", "decode.ff_out"}) {
    scenario.hold(sharded(mesh, name, BufferType::L1, kBf16Tile, 32));
  }
  scenario.hold(sharded(mesh, "sampling.semaphores", BufferType::L1_SMALL, 1024, 1));
  scenario.hold(sharded(mesh, "all_gather.semaphores", BufferType::L1_SMALL, 512, 1));
  scenario.hold(sharded(mesh, "rotary.indices", BufferType::L1_SMALL, 96, 1));
  scenario.run_in_turn(transformer_operations(mesh, 464));
}

}  // namespace

std::unique_ptr<Scenario> make_single() {
  auto scenario = std::make_unique<Steady>(kN150);
  scenario->hold(transformer_weights(scenario->mesh, k1B));
  scenario->hold(kv_cache(scenario->mesh, k1B.layers, 4096));
  fill_l1_of_64_cores(*scenario);
  return scenario;
}

std::unique_ptr<Scenario> make_mesh8() {
  auto scenario = std::make_unique<Steady>(kT3000);
  scenario->hold(transformer_weights(scenario->mesh, k8B));
  scenario->hold(kv_cache(scenario->mesh, k8B.layers, 16384));
  fill_l1_of_64_cores(*scenario);
  scenario->capture(k8B.layers);
  return scenario;
}

// 30 programs with 160 KiB on each of 64 cores: logical 300.0 MiB. All programs use the same
// addresses, but divide them differently among their CBs: physical 10.0 MiB.
std::unique_ptr<Scenario> make_cached_programs() {
  auto scenario = std::make_unique<Steady>(kN150);
  std::vector<Operation> variants;
  for (std::uint64_t variant = 0; variant < 30; ++variant) {
    const std::uint64_t weights = (32 + 2 * variant) * kKiB;
    const std::vector<CbOfOperation> cbs = {
        {.bytes = weights}, {.bytes = 128 * kKiB - weights}, {.bytes = 32 * kKiB}};
    variants.emplace_back(scenario->mesh, cbs);
  }
  scenario->run_in_turn(std::move(variants));
  return scenario;
}

// 130 cores: CBs 177 KiB per core = 22.47 MiB; L1 buffers 161,344 B per core = 20.00 MiB; dispatch
// kernels 0.20 MiB. Total 42.67 MiB. DRAM: 157.5 MiB in each of 8 views = 1.23 GiB.
std::unique_ptr<Scenario> make_blackhole() {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kPagesPerMiB = 256 * 8;  // one MiB in each view
  auto scenario = std::make_unique<Steady>(kP150);
  const Mesh& mesh = scenario->mesh;
  const auto hold_in_dram = [&](const std::string& name, std::uint64_t pages) {
    scenario->hold(interleaved(mesh, name, BufferType::DRAM, kPage, pages));
  };
  for (int layer = 0; layer < 32; ++layer) {
    hold_in_dram(fmt::format("layers.{}", layer), 4 * kPagesPerMiB);
  }
  hold_in_dram("tok_embeddings", 16 * kPagesPerMiB);
  hold_in_dram("lm_head", 8 * kPagesPerMiB);
  hold_in_dram("kv_cache", 5 * kPagesPerMiB + kPagesPerMiB / 2);
  scenario->hold(sharded(mesh, "decode.residual", BufferType::L1, kBf16Tile, 32));
  scenario->hold(sharded(mesh, "decode.attention_out", BufferType::L1, kBf16Tile, 32));
  scenario->hold(sharded(mesh, "decode.ff_in", BufferType::L1, kBf16Tile, 10));
  scenario->hold(sharded(mesh, "decode.ff_out", BufferType::L1, kBfp8Tile, 9));
  scenario->run_in_turn(transformer_operations(mesh, 177));
  return scenario;
}

std::unique_ptr<Scenario> make_device_init() { return std::make_unique<Steady>(kN150); }

std::unique_ptr<Scenario> make_galaxy() {
  auto scenario = std::make_unique<Steady>(kGalaxy);
  const Mesh& mesh = scenario->mesh;
  scenario->hold(transformer_weights(mesh, k70B));
  scenario->hold(kv_cache(mesh, k70B.layers, 8192));
  // The buffer takes 29 pages on each core, but most cores hold only 28 of its pages.
  scenario->hold(interleaved(mesh, "decode.residual", BufferType::L1, kBf16Tile, 2048));
  scenario->hold(interleaved(mesh, "decode.attention_out", BufferType::L1, kBf16Tile, 72 * 32));
  scenario->run_in_turn(transformer_operations(mesh, 464));
  scenario->capture(k70B.layers);
  return scenario;
}

}  // namespace ttmem::demo
