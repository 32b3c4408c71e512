// SPDX-License-Identifier: Apache-2.0
//
// Host code that allocates and frees at random. After each step it prints the allocator's figures
// for one bank, "dram FREE LARGEST l1 FREE LARGEST ...", and waits for a byte.
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <ttmem_tt_metal.hpp>
#include <utility>
#include <vector>

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshDevice;

constexpr std::array kTypes = {std::pair(BufferType::DRAM, "dram"), std::pair(BufferType::L1, "l1"),
                               std::pair(BufferType::L1_SMALL, "l1_small"),
                               std::pair(BufferType::TRACE, "trace")};

void say_what_is_free(const MeshDevice& mesh) {
  for (const auto& [type, name] : kTypes) {
    const Statistics of = mesh.allocator()->get_statistics(type);
    std::printf("%s %zu %zu ", name, of.total_free_bytes, of.largest_free_block_bytes);
  }
  ttmem::tt_metal::flush();
  std::printf("\n");
  std::fflush(stdout);
  if (std::getchar() == EOF) std::exit(1);
}

// Allocates a sharded buffer, because L1_SMALL takes no other buffers.
std::shared_ptr<MeshBuffer> small_shard(MeshDevice& mesh, std::uint32_t pages) {
  const ShardSpecBuffer spec(CoreRangeSet(CoreRange({0, 0}, {0, 0})), {pages, 32},
                             ShardOrientation::ROW_MAJOR, {1, 32}, {pages, 1});
  return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = DeviceAddr{pages} * 64},
                            {.page_size = 64,
                             .buffer_type = BufferType::L1_SMALL,
                             .sharding_args = {spec, TensorMemoryLayout::HEIGHT_SHARDED}},
                            &mesh);
}

std::shared_ptr<MeshBuffer> random_buffer(MeshDevice& mesh, std::mt19937& random) {
  const BufferType type = kTypes[random() % kTypes.size()].first;
  if (type == BufferType::L1_SMALL) return small_shard(mesh, 1 + random() % 20);
  const DeviceAddr page = 32 * (1 + random() % 4);
  const DeviceAddr most = type == BufferType::DRAM ? 1000000 : 5000;
  return MeshBuffer::create(
      distributed::ReplicatedBufferConfig{.size = page * (1 + random() % most)},
      {.page_size = page, .buffer_type = type}, &mesh);
}

}  // namespace

int main() {
  constexpr std::size_t l1_small = 65536;
  constexpr std::size_t trace_region = 50000000;
  const auto mesh =
      MeshDevice::create(distributed::MeshDeviceConfig(std::nullopt), l1_small, trace_region);
  ttmem::tt_metal::attach();
  ttmem::tt_metal::attach_workers(*mesh);
  std::mt19937 random(5);  // NOLINT: the same in every run
  std::vector<std::shared_ptr<MeshBuffer>> live;
  for (int step = 0; step < 40; ++step) {
    for (int i = 0; i < 8; ++i) live.push_back(random_buffer(*mesh, random));
    for (int i = 0; i < 7; ++i) {
      std::swap(live[random() % live.size()], live.back());
      live.pop_back();
    }
    say_what_is_free(*mesh);
  }
  return 0;
}
