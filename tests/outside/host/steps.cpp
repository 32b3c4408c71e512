// SPDX-License-Identifier: Apache-2.0
//
// Host code that allocates step by step. After each step it prints the step's name, or the error
// message of a step that fails, and waits for a byte.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>
#include <ttmem_tt_metal.hpp>

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshDevice;

void done(const std::string& step) {
  ttmem::tt_metal::flush();
  std::printf("%s\n", step.c_str());
  std::fflush(stdout);
  if (std::getchar() == EOF) std::exit(1);
}

// Returns the action's error message as one line, or "no error".
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
  return "no error";
}

std::shared_ptr<MeshBuffer> l1_buffer(MeshDevice& mesh, DeviceAddr page, DeviceAddr pages) {
  return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = page * pages},
                            {.page_size = page, .buffer_type = BufferType::L1}, &mesh);
}

Program program_of(std::uint32_t bytes, const CoreRange& cores = CoreRange({0, 0}, {7, 7})) {
  Program program = CreateProgram();
  CreateCircularBuffer(
      program, cores,
      CircularBufferConfig(bytes, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
  return program;
}

std::shared_ptr<Buffer> shard_on_one_core(IDevice& device, std::uint32_t bytes) {
  const std::uint32_t pages = bytes / 2048;
  const ShardSpecBuffer spec(CoreRangeSet(CoreRange({0, 0}, {0, 0})), {pages, 2048},
                             ShardOrientation::ROW_MAJOR, {1, 2048}, {pages, 1});
  return Buffer::create(&device, bytes, 2048, BufferType::L1,
                        {spec, TensorMemoryLayout::HEIGHT_SHARDED});
}

}  // namespace

int main() {
  const auto mesh = MeshDevice::create(distributed::MeshDeviceConfig(distributed::MeshShape(2, 4)));
  ttmem::tt_metal::attach();
  ttmem::tt_metal::attach_workers(*mesh);

  const auto one_page = l1_buffer(*mesh, 2048, 1);
  done("one page");
  std::optional<Program> program = program_of(4096);
  detail::LaunchProgram(mesh.get(), *program);
  done("program");
  detail::LaunchProgram(mesh.get(), *program);
  done("again");

  const auto used = mesh->get_device_ids();
  int ninth = 0;
  while (std::find(used.begin(), used.end(), ninth) != used.end()) ++ninth;
  IDevice* const later = CreateDevice(ninth);
  detail::LaunchProgram(later, *program);
  detail::LaunchProgram(later, *program);
  detail::LaunchProgram(mesh.get(), *program);
  done("ninth");

  done(error_of([&] { l1_buffer(*mesh, 1 << 20, 128); }));
  std::optional<Program> large = program_of(680 * 2048);
  done(error_of([&] { detail::LaunchProgram(mesh.get(), *large); }));
  large.reset();
  program.reset();
  done("destroyed");

  const auto shard = shard_on_one_core(*later, 800 * 1024);
  done("shard");
  done(error_of([&] { shard_on_one_core(*later, 800 * 1024); }));
  Program elsewhere = program_of(600 * 1024, CoreRange({5, 5}, {6, 6}));
  done(error_of([&] { detail::LaunchProgram(later, elsewhere); }));
  CloseDevice(later);
  return 0;
}
