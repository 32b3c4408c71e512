// SPDX-License-Identifier: Apache-2.0
//
// Measures calls of the C interface of the real library with the programs and buffers of
// workload.hpp. Every feature is on: live records, counters, peaks, per-core figures, events.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <time.h>

#include <array>
#include <atomic>

#include "recompute.hpp"
#include "workload.hpp"

namespace ttmem::bench {
namespace {

constexpr std::uint64_t kLiveIds = 1'000'000;  // id of the first program that stays placed
constexpr std::uint64_t kBatch = 64;

// Measures the placement of programs while `live` other programs stay placed. Each iteration places
// kBatch programs, then destroys them outside the measured time. Every program has its own layout,
// so that no two programs share a footprint and each program changes the union.
void place_with_live(benchmark::State& state) {
  const auto live = static_cast<std::uint64_t>(state.range(0));
  open_device(0);
  for (std::uint64_t i = 0; i < live; ++i) place(0, kLiveIds + i, i);
  std::uint64_t variant = live;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < kBatch; ++i) place(0, i, variant + i);
    state.PauseTiming();
    for (std::uint64_t i = 0; i < kBatch; ++i) ttmem_program_destroy(i);
    variant = live + (variant + kBatch - live) % 10'000;
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
  ttmem_device_close(0);
}
BENCHMARK(place_with_live)->Arg(10)->Arg(200)->Arg(2000)->Arg(10000)->Unit(benchmark::kMicrosecond);

// Measures like place_with_live(), but the programs share 32 layouts, as programs in a program
// cache do.
void place_shared_layout(benchmark::State& state) {
  const auto live = static_cast<std::uint64_t>(state.range(0));
  open_device(0);
  for (std::uint64_t i = 0; i < live; ++i) place(0, kLiveIds + i, i % 32);
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < kBatch; ++i) place(0, i, i % 32);
    state.PauseTiming();
    for (std::uint64_t i = 0; i < kBatch; ++i) ttmem_program_destroy(i);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
  ttmem_device_close(0);
}
BENCHMARK(place_shared_layout)->Arg(64)->Arg(10000)->Unit(benchmark::kMicrosecond);

void recompute_with_live(benchmark::State& state) {
  std::vector<Layout> programs;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    programs.push_back(cbs_of(static_cast<std::uint64_t>(i)));
  }
  for (auto _ : state) benchmark::DoNotOptimize(recompute(programs));
}
BENCHMARK(recompute_with_live)->Arg(200)->Arg(2000)->Unit(benchmark::kMicrosecond);

void place_mesh32(benchmark::State& state) {
  for (std::uint32_t device = 0; device < 32; ++device) open_device(device);
  std::uint64_t variant = 0;
  for (auto _ : state) {
    ++variant;
    for (std::uint32_t device = 0; device < 32; ++device) place(device, 1, variant % 10'000);
    state.PauseTiming();
    ttmem_program_destroy(1);
    state.ResumeTiming();
  }
  for (std::uint32_t device = 0; device < 32; ++device) ttmem_device_close(device);
}
BENCHMARK(place_mesh32)->Unit(benchmark::kMicrosecond);

constexpr std::uint32_t kMesh = 32;
constexpr auto kMeshDevices = [] {
  std::array<std::uint32_t, kMesh> devices{};
  for (std::uint32_t i = 0; i < kMesh; ++i) devices[i] = i;
  return devices;
}();

// Places one program on 32 devices with one call.
void mesh_place32(benchmark::State& state) {
  for (const std::uint32_t device : kMeshDevices) open_device(device);
  std::uint64_t variant = 0;
  for (auto _ : state) {
    const auto layout = cbs_of(++variant % 10'000);
    ttmem_mesh_program_place(kMeshDevices.data(), kMesh, 1, layout.data(), kCbs);
    state.PauseTiming();
    ttmem_program_destroy(1);
    state.ResumeTiming();
  }
  for (const std::uint32_t device : kMeshDevices) ttmem_device_close(device);
}
BENCHMARK(mesh_place32)->Unit(benchmark::kMicrosecond);

void mesh_redispatch32(benchmark::State& state) {
  for (const std::uint32_t device : kMeshDevices) open_device(device);
  const auto layout = cbs_of(1);
  ttmem_mesh_program_place(kMeshDevices.data(), kMesh, 1, layout.data(), kCbs);
  for (auto _ : state) ttmem_mesh_program_dispatch(kMeshDevices.data(), kMesh, 1);
  for (const std::uint32_t device : kMeshDevices) ttmem_device_close(device);
}
BENCHMARK(mesh_redispatch32);

// Allocates and frees a buffer on 32 devices while 1,000 other buffers are live.
void mesh_pair32(benchmark::State& state) {
  for (const std::uint32_t device : kMeshDevices) open_device(device);
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    const ttmem_buffer live = dram_buffer(id);
    ttmem_mesh_buffer_alloc(kMeshDevices.data(), kMesh, &live);
  }
  ttmem_buffer buffer = dram_buffer(0);
  std::uint64_t round = 0;
  for (auto _ : state) {
    buffer.id = 5000 + (++round & 1023);
    ttmem_mesh_buffer_alloc(kMeshDevices.data(), kMesh, &buffer);
    ttmem_mesh_buffer_free(kMeshDevices.data(), kMesh, TTMEM_DRAM, buffer.id);
  }
  for (const std::uint32_t device : kMeshDevices) ttmem_device_close(device);
}
BENCHMARK(mesh_pair32);

void redispatch(benchmark::State& state) {
  open_device(0);
  place(0, 1, 1);
  ttmem_program_dispatch(0, 1);
  for (auto _ : state) ttmem_program_dispatch(0, 1);
  ttmem_device_close(0);
}
BENCHMARK(redispatch);

void dispatch_in_turn(benchmark::State& state) {
  open_device(0);
  place(0, 0, 1);
  place(0, 1, 2);
  std::uint64_t program = 0;
  for (auto _ : state) ttmem_program_dispatch(0, program ^= 1);
  ttmem_device_close(0);
}
BENCHMARK(dispatch_in_turn);

void pairs(benchmark::State& state, const char* label) {
  open_device(0);
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    const ttmem_buffer live = dram_buffer(id);
    ttmem_buffer_alloc(0, &live);
  }
  ttmem_buffer buffer = dram_buffer(0);
  buffer.label = label;
  std::uint64_t round = 0;
  for (auto _ : state) {
    buffer.id = 5000 + (++round & 1023);
    ttmem_buffer_alloc(0, &buffer);
    ttmem_buffer_free(0, TTMEM_DRAM, buffer.id);
  }
  ttmem_device_close(0);
}
void alloc_free_pair(benchmark::State& state) { pairs(state, nullptr); }
BENCHMARK(alloc_free_pair);
void alloc_free_labelled_pair(benchmark::State& state) { pairs(state, "layers.0.attention.wq"); }
BENCHMARK(alloc_free_labelled_pair);
void alloc_free_scoped_pair(benchmark::State& state) {
  ttmem_scope_push("decoder.0");
  pairs(state, nullptr);
  ttmem_scope_pop();
}
BENCHMARK(alloc_free_scoped_pair);

void scope_pair(benchmark::State& state) {
  ttmem_scope_push("decoder.0");
  for (auto _ : state) {
    ttmem_scope_push("attention");
    ttmem_scope_pop();
  }
  ttmem_scope_pop();
}
BENCHMARK(scope_pair);

// Updates the counters that TT-Metal's own tracker updates for an allocation and its free. The
// order is the same: the total of the device, the row of the chip and the time, then the row of the
// process and the time again. All counters are in a shared mapping.
void shared_counters_pair(benchmark::State& state) {
  using Counter = std::atomic<std::uint64_t>;
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* counters = static_cast<Counter*>(page);
  const auto stamp = [](Counter& counter) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    counter.store(static_cast<std::uint64_t>(now.tv_nsec), std::memory_order_relaxed);
  };
  const auto record = [&](std::uint64_t bytes) {
    counters[6].fetch_add(bytes, std::memory_order_relaxed);
    counters[12].fetch_add(bytes, std::memory_order_relaxed);
    stamp(counters[1]);
    counters[108].fetch_add(bytes, std::memory_order_relaxed);
    stamp(counters[113]);
  };
  for (auto _ : state) {
    record(1 << 20);
    record(~std::uint64_t{1 << 20} + 1);
  }
  ::munmap(page, 4096);
}
BENCHMARK(shared_counters_pair);

}  // namespace
}  // namespace ttmem::bench
