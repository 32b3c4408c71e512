// SPDX-License-Identifier: Apache-2.0
//
// Measures the time to compose a frame of `ttmem top` in each view: 32 devices on a screen of
// 200x60.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "show/tui/screen/compose.hpp"

namespace ttmem::bench {
namespace {

model::Device device_of(std::uint32_t id) {
  model::Device d;
  d.id = id;
  d.arch = "wormhole_b0";
  d.board = "galaxy";
  d.grid_x = 8;
  d.grid_y = 9;
  for (KindFigures& kind : d.kinds) {
    kind.used_bytes = kind.peak_bytes = kind.logical_bytes = 8ULL << 20;
    kind.known = kAllFigures;
  }
  d.dram_capacity_bytes = 12ULL << 30;
  d.l1_used_bytes = d.l1_peak_bytes = 32ULL << 20;
  d.cb_resident_bytes = 8ULL << 20;
  d.l1_bytes_per_core = 1'499'136;
  d.l1_capacity_bytes = 1'499'136ULL * 72;
  d.l1_base = 105'664;
  d.l1_small_region_bytes = 0;
  d.headroom_bytes_per_core = 700'000;
  for (std::uint16_t i = 0; i < 72; ++i) {
    d.cores.push_back({static_cast<std::uint16_t>(i % 8), static_cast<std::uint16_t>(i / 8),
                       464ULL << 10, 100ULL << 10, 128ULL << 10, 128ULL << 10, 700'000});
  }
  return d;
}

// Returns a snapshot of 32 devices. Each device has eight processes, 500 allocations and 100
// programs of 8 CBs.
model::Snapshot galaxy() {
  model::Snapshot s;
  s.time_unix_ns = 1'787'400'005'000'000'000;
  for (std::uint32_t id = 0; id < 32; ++id) {
    s.devices.push_back(device_of(id));
    for (std::int32_t pid = 1; pid <= 8; ++pid) {
      model::Process p;
      p.pid = pid;
      p.name = fmt::format("worker{}", pid);
      for (KindFigures& kind : p.kinds) kind.set(&KindFigures::used_bytes, 1ULL << 20);
      s.devices.back().processes.push_back(p);
    }
    for (std::uint64_t i = 0; i < 500; ++i) {
      model::Allocation a;
      a.device = id;
      a.pid = static_cast<std::int32_t>(i % 8) + 1;
      a.kind = i % 20 == 0 ? Kind::l1 : Kind::dram;
      a.address = 1'400'000 - i * 256;
      a.bytes = a.bytes_per_bank.emplace(256);
      a.label = "layers.0.attention.wqkv";
      s.allocations.push_back(a);
    }
    for (std::uint64_t i = 0; i < 100; ++i) {
      model::Program p;
      p.device = id;
      p.pid = 1;
      p.program = i;
      for (std::uint64_t cb = 0; cb < 8; ++cb) {
        p.cbs.push_back({105'664 + cb * 8'192 + i % 10 * 64, 8'192, CoreMask::first(72), false});
      }
      s.programs.push_back(std::move(p));
    }
  }
  return s;
}

// Composes one frame. The argument of the benchmark is the number of the view.
void frame_compose_32(benchmark::State& state) {
  model::Snapshot snapshot = galaxy();
  tui::ChartHistory history;
  for (int i = 0; i < 3'000; ++i) {  // the samples of five minutes with ten frames a second
    snapshot.time_unix_ns += 100'000'000;
    history.add(snapshot);
  }
  tui::ViewState view;
  view.view = static_cast<tui::View>(state.range(0));
  for (auto _ : state) {
    const tui::Screen screen = tui::compose(snapshot, view, history, {200, 60}, {});
    benchmark::DoNotOptimize(screen.frame.at(0, 0));
  }
}
BENCHMARK(frame_compose_32)->DenseRange(1, 4)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ttmem::bench
