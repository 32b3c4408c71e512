// SPDX-License-Identifier: Apache-2.0
//
// Scenarios whose figures stand from the beginning. The sizes add up to figures that can be
// checked by eye; the sums are in the comments.
#include <string>

#include "demo/scenario.hpp"
#include "demo/workload.hpp"

namespace ttmem::demo {
namespace {

constexpr ttmem_core_range kGrid8x8 = {0, 0, 7, 7};

// A machine whose programs are dispatched one after the other, again and again.
class Steady : public Scenario {
 public:
  explicit Steady(const Chip& chip, std::uint32_t chips = 1, const MemoryConfig& config = {})
      : machine_(chip, chips, config) {
    load_dispatch_kernels(machine_);
  }

  void allocate(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) machine_.allocate(tensor);
  }

  void place(const std::vector<std::vector<CbRequest>>& programs) {
    for (const std::vector<CbRequest>& cbs : programs) {
      programs_.push_back(machine_.place(cbs));
      machine_.dispatch(programs_.back());
    }
  }

  void step(std::uint64_t number) override {
    if (!programs_.empty()) machine_.dispatch(programs_[number % programs_.size()]);
  }

  [[nodiscard]] std::size_t devices() const override { return machine_.size(); }

 private:
  Machine machine_;
  std::vector<std::uint64_t> programs_;
};

// 64 cores: CBs 464 KiB a core = 29.0 MiB; L1 buffers 256 KiB a core = 16.0 MiB; L1_SMALL 1632 B
// a core = 0.1 MiB; dispatch kernels 0.2 MiB. Together 45.3 MiB.
void fill_l1_of_64_cores(Steady& scenario) {
  scenario.allocate({
      {"decode.residual", TTMEM_L1, kBf16Tile, 64 * 32},
      {"decode.attention_out", TTMEM_L1, kBf16Tile, 64 * 32, kGrid8x8},
      {"decode.ff_in", TTMEM_L1, kBf16Tile, 64 * 32, kGrid8x8},
      {"decode.ff_out", TTMEM_L1, kBf16Tile, 64 * 32, kGrid8x8},
      {"sampling.semaphores", TTMEM_L1_SMALL, 1024, 64, kGrid8x8},
      {"all_gather.semaphores", TTMEM_L1_SMALL, 512, 64, kGrid8x8},
      {"rotary.indices", TTMEM_L1_SMALL, 96, 64, kGrid8x8},
  });
  scenario.place(transformer_programs(464));
}

}  // namespace

std::unique_ptr<Scenario> make_single() {
  auto scenario = std::make_unique<Steady>(kN150);
  scenario->allocate(transformer_weights({.layers = 16,
                                          .hidden = 2048,
                                          .feed_forward = 8192,
                                          .kv_heads_width = 1024,
                                          .vocabulary = 128256,
                                          .chips = 1}));
  scenario->allocate(kv_cache(16, 4096));
  fill_l1_of_64_cores(*scenario);
  return scenario;
}

std::unique_ptr<Scenario> make_mesh8() {
  auto scenario =
      std::make_unique<Steady>(kN300, 8, MemoryConfig{.trace_bytes_per_bank = 4096 * kKiB});
  scenario->allocate(transformer_weights({.layers = 32,
                                          .hidden = 4096,
                                          .feed_forward = 14336,
                                          .kv_heads_width = 2048,
                                          .vocabulary = 128256,
                                          .chips = 8}));
  scenario->allocate(kv_cache(32, 16384));
  scenario->allocate({{"decode.trace", TTMEM_TRACE, 4096, 12 * 384}});
  fill_l1_of_64_cores(*scenario);
  return scenario;
}

// 30 programs of 160 KiB on each of 64 cores: logical 300.0 MiB. They begin at the same address
// and end at the same one, however they divide the room between: physical 10.0 MiB.
std::unique_ptr<Scenario> make_cached_programs() {
  auto scenario = std::make_unique<Steady>(kN150);
  std::vector<std::vector<CbRequest>> programs;
  for (std::uint64_t variant = 0; variant < 30; ++variant) {
    const std::uint64_t weights = (32 + 2 * variant) * kKiB;
    programs.push_back({{.bytes = weights}, {.bytes = 128 * kKiB - weights}, {.bytes = 32 * kKiB}});
  }
  scenario->place(programs);
  return scenario;
}

// 130 cores: CBs 177 KiB a core = 22.47 MiB; L1 buffers 161,344 B a core = 20.00 MiB; dispatch
// kernels 0.20 MiB; together 42.67 MiB. DRAM: 157.5 MiB in each of 8 views = 1.23 GiB.
std::unique_ptr<Scenario> make_blackhole() {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kPagesPerMiB = 256 * 8;  // a MiB in each view
  constexpr ttmem_core_range kGrid = {0, 0, 12, 9};
  auto scenario = std::make_unique<Steady>(kP150);
  constexpr int kLayers = 32;
  std::vector<Tensor> weights;
  weights.reserve(kLayers);
  for (int layer = 0; layer < kLayers; ++layer) {
    weights.push_back({"layers." + std::to_string(layer), TTMEM_DRAM, kPage, 4 * kPagesPerMiB});
  }
  scenario->allocate(weights);
  scenario->allocate({
      {"tok_embeddings", TTMEM_DRAM, kPage, 16 * kPagesPerMiB},
      {"lm_head", TTMEM_DRAM, kPage, 8 * kPagesPerMiB},
      {"kv_cache", TTMEM_DRAM, kPage, 5 * kPagesPerMiB + kPagesPerMiB / 2},
      {"decode.residual", TTMEM_L1, kBf16Tile, 130 * 32, kGrid},
      {"decode.attention_out", TTMEM_L1, kBf16Tile, 130 * 32, kGrid},
      {"decode.ff_in", TTMEM_L1, kBf16Tile, 130 * 10, kGrid},
      {"decode.ff_out", TTMEM_L1, kBfp8Tile, 130 * 9, kGrid},
  });
  scenario->place(transformer_programs(177));
  return scenario;
}

std::unique_ptr<Scenario> make_device_init() { return std::make_unique<Steady>(kN150); }

std::unique_ptr<Scenario> make_galaxy() {
  auto scenario =
      std::make_unique<Steady>(kGalaxy, 32, MemoryConfig{.trace_bytes_per_bank = 4096 * kKiB});
  scenario->allocate(transformer_weights({.layers = 80,
                                          .hidden = 8192,
                                          .feed_forward = 28672,
                                          .kv_heads_width = 2048,
                                          .vocabulary = 128256,
                                          .chips = 32}));
  scenario->allocate(kv_cache(80, 8192));
  scenario->allocate({
      {"decode.trace", TTMEM_TRACE, 4096, 12 * 512},
      {"decode.residual", TTMEM_L1, kBf16Tile,
       2048},  // takes 29 pages on each core, fills 28 of most
      {"decode.attention_out", TTMEM_L1, kBf16Tile, 72 * 32},
  });
  scenario->place(transformer_programs(464));
  return scenario;
}

}  // namespace ttmem::demo
