// SPDX-License-Identifier: Apache-2.0
// Computes C = A * B on all cores of one chip. The program compiles against TT-Metal and against
// the dry run, unchanged. Prints how much L1 and DRAM the multiplication takes. The dry run does
// not compile the kernels, so their source files need not exist.
//
//    matmul [M N K]     multiples of 32, 640 each by default
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/bfloat16.hpp>
#include <tt-metalium/constants.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tensor_accessor_args.hpp>
#include <tt-metalium/work_split.hpp>
#include <utility>
#include <vector>

namespace {

using namespace tt::tt_metal;
using tt::constants::TILE_HEIGHT;
using tt::constants::TILE_HW;
using tt::constants::TILE_WIDTH;

constexpr std::uint32_t kTileBytes = sizeof(bfloat16) * TILE_HW;

// The sizes of the matrices in tiles.
struct Problem {
  std::uint32_t m, n, k;
};

std::shared_ptr<distributed::MeshBuffer> dram_buffer(distributed::MeshDevice& mesh,
                                                     std::uint32_t tiles) {
  distributed::DeviceLocalBufferConfig local;
  local.page_size = kTileBytes;
  local.buffer_type = BufferType::DRAM;
  distributed::ReplicatedBufferConfig global;
  global.size = DeviceAddr{kTileBytes} * tiles;
  return distributed::MeshBuffer::create(global, local, &mesh);
}

// Adds a circular buffer of two tiles, so that one tile can be filled while the other is read.
void add_circular_buffer(Program& program, const CoreRangeSet& cores, std::uint8_t index) {
  CreateCircularBuffer(program, cores,
                       CircularBufferConfig(2 * kTileBytes, {{index, tt::DataFormat::Float16_b}})
                           .set_page_size(index, kTileBytes));
}

struct Kernels {
  KernelHandle reader, writer, compute;
};

Kernels add_kernels(Program& program, const CoreRangeSet& cores, const distributed::MeshBuffer& a,
                    const distributed::MeshBuffer& b, const distributed::MeshBuffer& c) {
  DataMovementConfig reader;
  reader.processor = DataMovementProcessor::RISCV_1;
  reader.noc = NOC::RISCV_1_default;
  TensorAccessorArgs(a).append_to(reader.compile_args);
  TensorAccessorArgs(b).append_to(reader.compile_args);
  DataMovementConfig writer;
  TensorAccessorArgs(c).append_to(writer.compile_args);
  return {CreateKernel(program, "kernels/reader.cpp", cores, reader),
          CreateKernel(program, "kernels/writer.cpp", cores, writer),
          CreateKernel(program, "kernels/matmul.cpp", cores, ComputeConfig{})};
}

// Gives each core its share of the output: `tiles_per_core` consecutive tiles. `first_tile` is the
// first tile that no core has yet.
void set_arguments(const Program& program, const Kernels& kernels, const CoreRangeSet& cores,
                   std::uint32_t tiles_per_core, std::uint32_t& first_tile,
                   const std::vector<std::uint32_t>& addresses, const Problem& tiles) {
  for (const CoreRange& range : cores.ranges()) {
    for (const CoreCoord& core : range) {
      SetRuntimeArgs(
          program, kernels.reader, core,
          {addresses[0], addresses[1], tiles.m, tiles.k, tiles.n, first_tile, tiles_per_core});
      SetRuntimeArgs(program, kernels.writer, core, {addresses[2], tiles_per_core, first_tile});
      SetRuntimeArgs(program, kernels.compute, core, {tiles_per_core, tiles.k});
      first_tile += tiles_per_core;
    }
  }
}

void report(const distributed::MeshDevice& mesh, BufferType type, const char* name) {
  const auto statistics = mesh.allocator()->get_statistics(type);
  std::printf("%-4s %zu of %zu bytes per bank, %u banks\n", name,
              static_cast<std::size_t>(statistics.total_allocated_bytes),
              static_cast<std::size_t>(statistics.total_allocatable_size_bytes),
              static_cast<unsigned>(mesh.allocator()->get_num_banks(type)));
}

void multiply(distributed::MeshDevice& mesh, const Problem& tiles) {
  auto a = dram_buffer(mesh, tiles.m * tiles.k);
  auto b = dram_buffer(mesh, tiles.k * tiles.n);
  auto c = dram_buffer(mesh, tiles.m * tiles.n);

  Program program = CreateProgram();
  const auto [count, cores, busier, others, more, less] =
      split_work_to_cores(mesh.compute_with_storage_grid_size(), tiles.m * tiles.n);
  for (const std::uint8_t index : {tt::CBIndex::c_0, tt::CBIndex::c_1, tt::CBIndex::c_16}) {
    add_circular_buffer(program, cores, index);
  }
  const Kernels kernels = add_kernels(program, cores, *a, *b, *c);
  const std::vector<std::uint32_t> addresses{static_cast<std::uint32_t>(a->address()),
                                             static_cast<std::uint32_t>(b->address()),
                                             static_cast<std::uint32_t>(c->address())};
  std::uint32_t first_tile = 0;
  set_arguments(program, kernels, busier, more, first_tile, addresses, tiles);
  set_arguments(program, kernels, others, less, first_tile, addresses, tiles);

  auto& queue = mesh.mesh_command_queue();
  const std::vector<bfloat16> ones(std::size_t{TILE_HW} * tiles.m * tiles.k, bfloat16(1.0f));
  const std::vector<bfloat16> twos(std::size_t{TILE_HW} * tiles.k * tiles.n, bfloat16(2.0f));
  distributed::EnqueueWriteMeshBuffer(queue, a, ones, false);
  distributed::EnqueueWriteMeshBuffer(queue, b, twos, false);
  distributed::MeshWorkload workload;
  workload.add_program(distributed::MeshCoordinateRange(mesh.shape()), std::move(program));
  distributed::EnqueueMeshWorkload(queue, workload, false);
  std::vector<bfloat16> result;
  distributed::EnqueueReadMeshBuffer(queue, result, c, true);

  std::printf("matmul of %u x %u x %u tiles on %u cores\n", tiles.m, tiles.n, tiles.k, count);
  std::printf("CB   %u bytes on each core\n", 3 * 2 * kTileBytes);
  report(mesh, BufferType::L1, "L1");
  report(mesh, BufferType::DRAM, "DRAM");
}

std::uint32_t tiles_of(const char* text, std::uint32_t tile) {
  return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) / tile;
}

}  // namespace

int main(int argc, char** argv) {
  Problem tiles{640 / TILE_HEIGHT, 640 / TILE_WIDTH, 640 / TILE_WIDTH};
  if (argc == 4) {
    tiles = {tiles_of(argv[1], TILE_HEIGHT), tiles_of(argv[2], TILE_WIDTH),
             tiles_of(argv[3], TILE_WIDTH)};
  }
  if ((argc != 1 && argc != 4) || tiles.m == 0 || tiles.n == 0 || tiles.k == 0) {
    std::fprintf(stderr, "usage: %s [M N K]   multiples of 32\n", argv[0]);
    return 2;
  }
  try {
    const auto mesh = distributed::MeshDevice::create_unit_mesh(0);
    multiply(*mesh, tiles);
    mesh->close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "matmul: %s\n", error.what());
    return 1;
  }
  return 0;
}
