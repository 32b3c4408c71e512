// SPDX-License-Identifier: Apache-2.0
//
// Measures the time that reporting adds to host code on the dry run, for two ways to report. The
// runtime's hooks report each buffer and its free. A wrapped call reports the declaration of a
// circular buffer.
#include <benchmark/benchmark.h>

#include <memory>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <ttmem/instrumented_helpers.hpp>
#include <ttmem_tt_metal.hpp>
#include <vector>

namespace ttmem::bench {
namespace {

namespace tm = ::tt::tt_metal;

std::shared_ptr<tm::Buffer> make_buffer(tm::IDevice* device) {
  return tm::Buffer::create(device, 1 << 20, 2048, tm::BufferType::DRAM);
}

// Creates and frees a buffer while 1,000 other buffers are live, as calls_bench.cpp does without
// the dry run.
void buffer_pairs(benchmark::State& state, bool hooked) {
  if (hooked) tt_metal::attach();
  {
    const auto mesh = tm::distributed::MeshDevice::create_unit_mesh(0);
    std::vector<std::shared_ptr<tm::Buffer>> live(1000);
    for (auto& buffer : live) buffer = make_buffer(mesh.get());
    for (auto _ : state) benchmark::DoNotOptimize(make_buffer(mesh.get()));
    live.clear();
  }
  if (!hooked) return;
  tt_metal::device_closed(0);
  tm::GraphTracker::instance().pop_processor();
}
void plain_buffer_pair(benchmark::State& state) { buffer_pairs(state, false); }
BENCHMARK(plain_buffer_pair);
void hooked_buffer_pair(benchmark::State& state) { buffer_pairs(state, true); }
BENCHMARK(hooked_buffer_pair);

// Declares the 32 circular buffers of a program on a square of cores. The time to construct the
// program is not measured.
template <typename Declare>
void declare_cbs(benchmark::State& state, Declare declare) {
  constexpr std::uint8_t kSlots = 32;
  const auto last = static_cast<std::size_t>(state.range(0) - 1);
  const tm::CoreRange cores({0, 0}, {last, last});
  std::vector<tm::CircularBufferConfig> configs;
  for (std::uint8_t slot = 0; slot < kSlots; ++slot) {
    configs.push_back(tm::CircularBufferConfig(4096, {{slot, tt::DataFormat::Float16_b}})
                          .set_page_size(slot, 2048));
  }
  for (auto _ : state) {
    state.PauseTiming();
    auto program = std::make_unique<tm::Program>();
    state.ResumeTiming();
    for (const tm::CircularBufferConfig& config : configs) declare(*program, cores, config);
    state.PauseTiming();
    tm::instrumented::ReleaseTracking(*program);
    program.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kSlots);
}
void plain_cb(benchmark::State& state) {
  declare_cbs(state, [](auto& program, const auto& cores, const auto& config) {
    return tm::CreateCircularBuffer(program, cores, config);
  });
}
BENCHMARK(plain_cb)->Arg(1)->Arg(8);
void wrapped_cb(benchmark::State& state) {
  declare_cbs(state, [](auto& program, const auto& cores, const auto& config) {
    return tm::instrumented::CreateCircularBufferWithTracking(program, cores, config);
  });
  ttmem_device_close(0);
}
BENCHMARK(wrapped_cb)->Arg(1)->Arg(8);

}  // namespace
}  // namespace ttmem::bench
