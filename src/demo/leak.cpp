// SPDX-License-Identifier: Apache-2.0
//
// A server that forgets: every request leaves a DRAM buffer behind, every fifth an L1 buffer too.
// What it uses and gives back in between goes up and down, so that the leak shows only over time.
#include <fmt/core.h>

#include "demo/scenario.hpp"
#include "demo/workload.hpp"

namespace ttmem::demo {
namespace {

constexpr std::uint64_t kLostTiles = 2048;  // 4 MiB of DRAM a request
constexpr std::uint64_t kRequestsPerLostL1 = 5;

class Leak : public Scenario {
 public:
  Leak() : machine_(kN150, 1) {
    load_dispatch_kernels(machine_);
    for (const Tensor& tensor : transformer_weights({.layers = 16,
                                .hidden = 2048,
                                .feed_forward = 8192,
                                .kv_heads_width = 1024,
                                .vocabulary = 128256,
                                .chips = 1})) {
      machine_.allocate(tensor);
    }
    for (const std::vector<CbRequest>& cbs : transformer_programs(256)) {
      programs_.push_back(machine_.place(cbs));
    }
  }

  void step(std::uint64_t number) override {
    for (std::uint64_t buffer : request_) machine_.free(buffer);
    request_.clear();
    keep({fmt::format("request.{}.input", number), TTMEM_DRAM, kBf16Tile, 512 + number % 7 * 128});
    keep({fmt::format("request.{}.hidden", number), TTMEM_L1, kBf16Tile, 64 * (4 + number % 3)});

    // A full memory loses no more: the real server would have ended here.
    machine_.allocate(
        {fmt::format("request.{}.logits", number), TTMEM_DRAM, kBf16Tile, kLostTiles});
    if (number % kRequestsPerLostL1 == 0) {
      machine_.allocate({fmt::format("request.{}.scores", number), TTMEM_L1, 512, 64});
    }
    machine_.dispatch(programs_[number % programs_.size()]);
  }

  [[nodiscard]] std::size_t devices() const override { return machine_.size(); }

 private:
  void keep(const Tensor& tensor) {
    if (const auto buffer = machine_.allocate(tensor)) request_.push_back(*buffer);
  }

  Machine machine_;
  std::vector<std::uint64_t> programs_;
  std::vector<std::uint64_t> request_;  // what it gives back
};

}  // namespace

std::unique_ptr<Scenario> make_leak() { return std::make_unique<Leak>(); }

}  // namespace ttmem::demo
