// SPDX-License-Identifier: Apache-2.0
// A server with a leak. Each request leaves a DRAM buffer behind, and each fifth request also
// leaves an L1 buffer. Each request also allocates and frees other buffers, which hide the leak in
// a single snapshot.
#include <fmt/core.h>

#include <exception>

#include "simulator/demo/scenario.hpp"
#include "simulator/demo/transformer.hpp"

namespace ttmem::demo {
namespace {

using tm::BufferType;

constexpr std::uint64_t kLostTiles = 2048;  // 4 MiB of DRAM per request
constexpr std::uint64_t kRequestsPerLostL1 = 5;

class LeakScenario : public Scenario {
 public:
  LeakScenario()
      : Scenario(kN150),
        weights_(transformer_weights(mesh, k1B)),
        operations_(transformer_operations(mesh, 256)) {
    for (Operation& operation : operations_) operation.run();
  }

  void step(std::uint64_t number) override {
    request_.clear();
    try {
      serve(number);
    } catch (const std::exception&) {
      // The device is full. A real server would end here. The scenario goes on without the buffer.
    }
  }

 private:
  void serve(std::uint64_t number) {
    const auto tensor = [&](const char* part, BufferType type, std::uint64_t page_bytes,
                            std::uint64_t pages) {
      return interleaved(mesh, fmt::format("request.{}.{}", number, part), type, page_bytes, pages);
    };
    request_.push_back(tensor("input", BufferType::DRAM, kBf16Tile, 512 + number % 7 * 128));
    request_.push_back(tensor("hidden", BufferType::L1, kBf16Tile, 64 * (4 + number % 3)));
    lost_.push_back(tensor("logits", BufferType::DRAM, kBf16Tile, kLostTiles));
    if (number % kRequestsPerLostL1 == 0) {
      lost_.push_back(tensor("scores", BufferType::L1, 512, 64));
    }
    operations_[number % operations_.size()].run();
  }

  const std::vector<Tensor> weights_;
  std::vector<Operation> operations_;
  std::vector<Tensor> request_;  // freed when the next request begins
  std::vector<Tensor> lost_;     // no request frees them
};

}  // namespace

std::unique_ptr<Scenario> make_leak() { return std::make_unique<LeakScenario>(); }

}  // namespace ttmem::demo
