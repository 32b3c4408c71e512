// SPDX-License-Identifier: Apache-2.0
// Caches programs: the first run of each variant builds a program, and later runs find it in the
// cache of the device. All programs stay placed in L1, at the same addresses. Compiles against
// TT-Metal and against the dry run, unchanged.
//
//    program_cache [VARIANTS [RUNS]]     30 variants, each run 4 times, by default
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/program_cache.hpp>
#include <utility>

namespace {

using namespace tt::tt_metal;
using program_cache::detail::CachedMeshWorkload;
using program_cache::detail::CachedProgramFactory;
using program_cache::detail::ProgramCacheKey;

constexpr std::uint32_t kTileBytes = 2048;
constexpr std::uint32_t kTiles = 80;  // 160 KiB on each core: 10 MiB on 64 cores

// What a later run of a cached program needs: the handle of the kernel whose argument changes.
struct Shared {
  KernelHandle kernel;
};
using Cached = CachedMeshWorkload<Shared>;

CachedProgramFactory build(const distributed::MeshDevice& mesh) {
  const auto grid = mesh.compute_with_storage_grid_size();
  const CoreRange cores(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1));
  Program program = CreateProgram();
  CreateCircularBuffer(
      program, cores,
      CircularBufferConfig(kTiles * kTileBytes, {{tt::CBIndex::c_0, tt::DataFormat::Float16_b}})
          .set_page_size(tt::CBIndex::c_0, kTileBytes));
  const KernelHandle kernel =
      CreateKernel(program, "kernels/step.cpp", cores, DataMovementConfig{});
  distributed::MeshWorkload workload;
  workload.add_program(distributed::MeshCoordinateRange(mesh.shape()), std::move(program));
  return {Cached(std::move(workload), Shared{kernel}), 0};
}

// Runs a variant. Returns true if the program was in the cache.
bool run(distributed::MeshDevice& mesh, std::uint64_t variant, std::uint32_t step) {
  auto& cache = mesh.get_program_cache();
  ProgramCacheKey key;
  key.hash = variant;
  key.canonical = "step/" + std::to_string(variant);
  const bool hit = cache.contains(key);
  if (!hit) cache.insert(key, build(mesh));

  auto& cached = cache.get(key).cached_program.get<Cached>();
  for (const auto& entry : cached.workload.get_programs()) {
    SetRuntimeArgs(entry.second, cached.shared_variables.kernel, CoreCoord(0, 0), {step});
  }
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), cached.workload, false);
  return hit;
}

void run_all(distributed::MeshDevice& mesh, std::uint32_t variants, std::uint32_t runs) {
  std::uint32_t hits = 0;
  for (std::uint32_t step = 0; step < runs; ++step) {
    for (std::uint32_t variant = 0; variant < variants; ++variant) {
      if (run(mesh, variant, step)) ++hits;
    }
  }
  distributed::Finish(mesh.mesh_command_queue());
  const auto grid = mesh.compute_with_storage_grid_size();
  const unsigned long long each = 1ull * grid.x * grid.y * kTiles * kTileBytes;
  std::printf("%zu programs in the cache, %u hits\n",
              static_cast<std::size_t>(mesh.num_program_cache_entries()), hits);
  std::printf("CB logical  %llu bytes: what all programs declare\n", each * variants);
  std::printf("CB physical %llu bytes: they lie at the same addresses\n", each);
}

std::uint32_t number(const char* text) {
  return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t variants = argc > 1 ? number(argv[1]) : 30;
  const std::uint32_t runs = argc > 2 ? number(argv[2]) : 4;
  if (argc > 3 || variants == 0 || runs == 0) {
    std::fprintf(stderr, "usage: %s [VARIANTS [RUNS]]\n", argv[0]);
    return 2;
  }
  try {
    const auto mesh = distributed::MeshDevice::create_unit_mesh(0);
    run_all(*mesh, variants, runs);
    mesh->clear_program_cache();
    mesh->close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "program_cache: %s\n", error.what());
    return 1;
  }
  return 0;
}
