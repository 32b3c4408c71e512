// SPDX-License-Identifier: Apache-2.0
//
// Host code without any use of ttmem that runs out of memory. Each argument is a step. If
// TTMEM_PROCESSOR is defined, the program attaches the processor. A step's exception is printed and
// ends the program with status 1, after everything was freed and the device was closed. After the
// step "caught", exceptions are only printed. After the step "uncaught", no exception is caught.
// After the step "thread", each step runs in a new thread.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>
#include <utility>
#include <vector>

#ifdef TTMEM_PROCESSOR
#include <ttmem_tt_metal.hpp>
#endif

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshDevice;
using distributed::MeshWorkload;

constexpr std::size_t kTraceRegion = 4096;

class Host {
 public:
  ~Host() {
    buffers_.clear();
    mesh_->close();
  }

  void take(BufferType type, DeviceAddr pages_of_each_bank) {
    const DeviceAddr pages = pages_of_each_bank * mesh_->allocator()->get_num_banks(type);
    buffers_.push_back(MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048 * pages},
                                          {.page_size = 2048, .buffer_type = type}, mesh_.get()));
  }

  // Runs a program with two circular buffers of 200 KiB on 9 cores.
  void run() {
    MeshWorkload workload;
    Program program = CreateProgram();
    for (std::uint8_t index = 0; index < 2; ++index) {
      CreateCircularBuffer(program, CoreRange({0, 0}, {2, 2}),
                           CircularBufferConfig(2048 * 100, {{index, tt::DataFormat::Float16_b}})
                               .set_page_size(index, 2048));
    }
    workload.add_program(distributed::MeshCoordinateRange(mesh_->shape()), std::move(program));
    distributed::EnqueueMeshWorkload(mesh_->mesh_command_queue(), workload, false);
  }

  void step(const std::string& name) {
    if (name == "weights") return take(BufferType::DRAM, 100);
    if (name == "oom") return take(BufferType::L1, 100000);
    if (name == "run") return run();
    if (name == "clash") {
      take(BufferType::L1, 560);
      return run();
    }
    if (name == "trace") {
      for (;;) {
        const auto id = distributed::BeginTraceCapture(mesh_.get(), 0);
        run();
        mesh_->end_mesh_trace(0, id);
      }
    }
    if (name == "other") throw std::runtime_error("something else");
    if (name == "number") throw 7;
    if (name == "wrapped") {
      try {
        step("oom");
      } catch (const std::exception& exception) {
        buffers_.clear();
        throw std::runtime_error(std::string("cannot load the model: ") + exception.what());
      }
    }
    if (name == "abort") std::abort();
  }

 private:
  std::shared_ptr<MeshDevice> mesh_ = MeshDevice::create(
      distributed::MeshDeviceConfig(std::nullopt), DEFAULT_L1_SMALL_SIZE, kTraceRegion);
  std::vector<std::shared_ptr<MeshBuffer>> buffers_;
};

// Runs a step. Returns false if the step threw.
bool try_step(Host& host, const std::string& name) {
  try {
    host.step(name);
    return true;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
  } catch (int number) {
    std::fprintf(stderr, "%d\n", number);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef TTMEM_PROCESSOR
  ttmem::tt_metal::attach();
#endif
  Host host;
  bool is_caught = false;
  bool is_elsewhere = false;
  bool is_uncaught = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    is_caught = is_caught || name == "caught";
    is_elsewhere = is_elsewhere || name == "thread";
    is_uncaught = is_uncaught || name == "uncaught";
    bool done = true;
    if (is_uncaught) {
      host.step(name);
    } else if (is_elsewhere) {
      std::thread([&] { done = try_step(host, name); }).join();
    } else {
      done = try_step(host, name);
    }
    if (!done && !is_caught) return 1;
  }
  return 0;
}
