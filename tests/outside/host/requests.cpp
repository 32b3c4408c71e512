// SPDX-License-Identifier: Apache-2.0
//
// Host code that makes random requests: `requests SEED STEPS`. With the same seed the requests are
// the same on every board: they use only 8 x 7 cores and 7 DRAM banks, which all boards have.
// Prints "steps N", the number of completed steps. If a step failed, it first prints "failed
// REQUESTS request MESSAGE", or "failed REQUESTS dispatch MESSAGE" if an earlier program was run
// again. REQUESTS is the number of requests so far, MESSAGE the runtime's message.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <ttmem_tt_metal.hpp>
#include <utility>
#include <vector>

namespace {

using namespace tt::tt_metal;
using distributed::DeviceLocalBufferConfig;
using distributed::MeshBuffer;
using distributed::MeshDevice;
using distributed::MeshWorkload;

class Host {
 public:
  explicit Host(unsigned seed)
      : random_(seed),
        mesh_(MeshDevice::create(distributed::MeshDeviceConfig(std::nullopt), 32768, 1 << 20)) {
    ttmem::tt_metal::attach();
    ttmem::tt_metal::attach_workers(*mesh_);
  }

  void step() {
    is_dispatch_ = false;
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return interleaved(BufferType::DRAM, 32 * (1 + below(128)), 1 + below(300'000));
      case 3:
      case 4:
        return interleaved(BufferType::L1, 16 * (1 + below(200)), 1 + below(3'000));
      case 5:
        return sharded(below(4) == 0 ? BufferType::L1_SMALL : BufferType::L1,
                       CoreRange({below(4), below(3)}, {4 + below(4), 3 + below(4)}));
      case 6:
        return sharded(BufferType::DRAM, CoreRange({0, 0}, {below(7), 0}));
      case 7:
      case 8:
        return place();
      case 9:
      case 10:
        return run_again();
      default:
        return drop();
    }
  }

  std::size_t requests() const { return requests_; }
  bool is_dispatch() const { return is_dispatch_; }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  void keep(DeviceAddr bytes, const DeviceLocalBufferConfig& config) {
    const ttmem::tt_metal::Label label("buffer." + std::to_string(below(20)));
    ++requests_;
    buffers_.push_back(MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = bytes},
                                          config, mesh_.get()));
  }

  void interleaved(BufferType type, DeviceAddr page, DeviceAddr pages) {
    const bool usual = below(6) != 0;
    keep(page * pages, {.page_size = page,
                        .buffer_type = type,
                        .sharding_args = {},
                        .bottom_up = usual == (type == BufferType::DRAM)});
  }

  void sharded(BufferType type, const CoreRange& range) {
    const CoreRangeSet cores(range);
    const std::uint32_t page = 16 * (1 + below(64));
    const std::uint32_t pages = 1 + below(type == BufferType::DRAM ? 20'000 : 20);
    const ShardSpecBuffer spec(cores, {pages, page}, ShardOrientation::ROW_MAJOR, {1, page},
                               {pages * cores.num_cores(), 1});
    keep(DeviceAddr{page} * pages * cores.num_cores(),
         {.page_size = page,
          .buffer_type = type,
          .sharding_args = {spec, TensorMemoryLayout::HEIGHT_SHARDED}});
  }

  void place() {
    Program program;
    const std::uint32_t cbs = 1 + below(6);
    for (std::uint32_t i = 0; i < cbs; ++i) {
      const CoreRange cores({below(4), below(3)}, {4 + below(4), 3 + below(4)});
      const std::uint32_t bytes = 16 * (1 + below(below(9) == 0 ? 40'000 : 2'000));
      const auto index = static_cast<std::uint8_t>(i);
      CreateCircularBuffer(program, CoreRangeSet(cores),
                           CircularBufferConfig(bytes, {{index, tt::DataFormat::Float16_b}})
                               .set_page_size(index, bytes));
    }
    ++requests_;
    auto workload = std::make_unique<MeshWorkload>();
    workload->add_program(distributed::MeshCoordinateRange(mesh_->shape()), std::move(program));
    programs_.push_back(std::move(workload));
    run(*programs_.back());
  }

  void run(MeshWorkload& workload) {
    const Program& program = workload.get_programs().begin()->second;
    const ttmem::tt_metal::ProgramScope scope(program, mesh_.get());
    distributed::EnqueueMeshWorkload(mesh_->mesh_command_queue(), workload, false);
  }

  void run_again() {
    if (programs_.empty()) return;
    is_dispatch_ = true;
    run(*programs_[below(static_cast<std::uint32_t>(programs_.size()))]);
  }

  void drop() {
    for (int i = 0; i < 4 && !buffers_.empty(); ++i) {
      std::swap(buffers_[below(static_cast<std::uint32_t>(buffers_.size()))], buffers_.back());
      buffers_.pop_back();
    }
    if (programs_.size() > 20) programs_.erase(programs_.begin());
  }

  std::mt19937 random_;
  const std::shared_ptr<MeshDevice> mesh_;
  std::vector<std::shared_ptr<MeshBuffer>> buffers_;
  std::vector<std::unique_ptr<MeshWorkload>> programs_;
  std::size_t requests_ = 0;
  bool is_dispatch_ = false;
};

std::string one_line(std::string text) { return text.substr(0, text.find('\n')); }

}  // namespace

int main(int /*argc*/, char** argv) {
  Host host(static_cast<unsigned>(std::atoi(argv[1])));
  const int steps = std::atoi(argv[2]);
  int made = 0;
  try {
    for (; made < steps; ++made) host.step();
  } catch (const std::runtime_error& error) {
    std::printf("failed %zu %s %s\n", host.requests(), host.is_dispatch() ? "dispatch" : "request",
                one_line(error.what()).c_str());
  }
  std::printf("steps %d\n", made);
  ttmem::tt_metal::flush();
  return 0;
}
