// SPDX-License-Identifier: Apache-2.0
//
// Fixed snapshots for the tests of the views.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::views::fixtures {

inline constexpr std::uint64_t kMiB = 1024 * 1024;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;
inline constexpr std::uint64_t kL1PerCore = 1'499'136;

// The figures that a device of these fixtures reports for one kind.
struct Known {
  model::Bytes used{};
  model::Bytes peak{};
  model::Bytes logical{};
  model::Bytes live{};
  model::Bytes unsized{};
  model::Bytes allocations{};
  model::Bytes frees{};
};
inline KindFigures figures(const Known& known) {
  KindFigures result{};
  result.set(&KindFigures::used_bytes, known.used);
  result.set(&KindFigures::peak_bytes, known.peak);
  result.set(&KindFigures::logical_bytes, known.logical);
  result.set(&KindFigures::live, known.live);
  result.set(&KindFigures::unsized, known.unsized);
  result.set(&KindFigures::allocations, known.allocations);
  result.set(&KindFigures::frees, known.frees);
  return result;
}

inline model::Process process(std::int32_t pid, std::string name, std::string command) {
  model::Process p;
  p.pid = pid;
  p.name = std::move(name);
  p.command = std::move(command);
  p.user = "alice";
  p.kinds[Kind::dram] = figures({.used = 5 * kGiB / 4, .live = 212});
  p.kinds[Kind::l1] = figures({.used = 16 * kMiB, .live = 0});
  p.kinds[Kind::l1_small] = figures({.used = kMiB / 8, .live = 0});
  p.kinds[Kind::trace] = figures({.used = 3 * kMiB, .live = 0});
  p.kinds[Kind::cb] = figures({.used = 29 * kMiB});
  p.kinds[Kind::kernel] = figures({.used = 204'800, .live = 0});
  p.kinds[Kind::system] = figures({.used = 0, .live = 0});
  return p;
}

// Returns a Wormhole with 29.0 MiB of circular buffers, on which every figure is known.
inline model::Device wormhole(std::uint32_t id) {
  model::Device d;
  d.id = id;
  d.uid = 0x1f00a + id;
  d.arch = "wormhole_b0";
  d.board = "n300";
  d.grid_x = 8;
  d.grid_y = 8;
  d.dram_capacity_bytes = 12 * kGiB;
  d.kinds[Kind::dram] = figures({.used = 5 * kGiB / 4,
                                 .peak = 3 * kGiB / 2,
                                 .logical = 6 * kGiB / 5,
                                 .unsized = 0,
                                 .allocations = 4'000,
                                 .frees = 3'788});
  d.kinds[Kind::l1] = figures(
      {.used = 16 * kMiB, .logical = 15 * kMiB, .unsized = 0, .allocations = 0, .frees = 0});
  d.kinds[Kind::l1_small] = figures({.used = kMiB / 8, .allocations = 0, .frees = 0});
  d.kinds[Kind::trace] =
      figures({.used = 3 * kMiB, .peak = 3 * kMiB, .allocations = 0, .frees = 0});
  d.kinds[Kind::cb] = figures(
      {.used = 29 * kMiB, .peak = 30 * kMiB, .logical = 300 * kMiB, .allocations = 0, .frees = 0});
  d.kinds[Kind::kernel] = figures({.used = 204'800, .allocations = 0, .frees = 0});
  d.kinds[Kind::system] = figures({.used = 0, .allocations = 0, .frees = 0});
  d.cb_resident_bytes = 10 * kMiB;
  d.kernels_persistent_bytes = 204'800;
  d.kernels_estimated_bytes = 0;
  d.l1_used_bytes = 45 * kMiB + kMiB / 8 + 204'800;
  d.l1_peak_bytes = 48 * kMiB;
  d.l1_capacity_bytes = kL1PerCore * 64;
  d.headroom_bytes_per_core = 421'888;
  d.trace_capacity_bytes = 64 * kMiB;
  d.programs = 30;
  d.anomalies.emplace();
  d.processes = {process(4711, "python3", "python3 serve.py --model llama-3.1-8b --batch 32")};
  for (std::uint16_t y = 0; y < 8; ++y) {
    for (std::uint16_t x = 0; x < 8; ++x) {
      const std::uint64_t cb = y < 4 ? 475'136 : 442'368;
      d.cores.push_back(
          {x, y, cb, 163'840, 262'144, 262'144, y < 4 ? 421'888 : std::int64_t{454'656}});
    }
  }
  return d;
}

// Returns a device of which only the figures in TT-Metal's own region are known.
inline model::Device unannounced(std::uint32_t id) {
  model::Device d;
  d.id = id;
  d.kinds[Kind::dram].set(&KindFigures::used_bytes, 700 * kMiB);
  d.kinds[Kind::cb].set(&KindFigures::used_bytes, 2 * kMiB);
  model::Process p;
  p.pid = 99;
  p.name = "tt_worker";
  p.user = "bob";
  p.source = model::Source::tt_metal;
  p.kinds = d.kinds;
  d.processes = {p};
  return d;
}

inline model::Snapshot snapshot_of(std::vector<model::Device> devices) {
  model::Snapshot snapshot;
  snapshot.time_unix_ns = 1'787'400'005'000'000'000;
  snapshot.host = "galaxy-17";
  snapshot.devices = std::move(devices);
  return snapshot;
}

inline model::Snapshot mesh(std::uint32_t devices) {
  std::vector<model::Device> list;
  for (std::uint32_t id = 0; id < devices; ++id) list.push_back(wormhole(id));
  return snapshot_of(std::move(list));
}

// Returns a snapshot with every problem that a view can show: a clash, a dead process, every
// anomaly, and a device whose figures are almost all unknown.
inline model::Snapshot troubled() {
  model::Device d = wormhole(0);
  d.headroom_bytes_per_core = -115'200;
  for (std::size_t i = 0; i < 12; ++i) d.cores[i].headroom_bytes = -115'200;
  d.l1_used_bytes = 80 * kMiB;
  d.anomalies = {3, 2, 1, 4, 5, 6, 7 * kMiB};
  d.processes.push_back(process(4200, "pytest", ""));
  d.processes.back().state = model::State::dead;
  model::Snapshot snapshot = snapshot_of({std::move(d), unannounced(3)});
  snapshot.warnings = {"cannot read /dev/shm/ttmem.0.1.1: permission denied; run ttmem as root"};
  return snapshot;
}

inline CoreMask first_row(std::uint32_t cores) { return CoreMask::first(cores); }

// Returns a snapshot with two buffers, a persistent kernel of estimated size, and three programs.
inline model::Snapshot with_lists() {
  model::Snapshot snapshot = mesh(2);
  model::Allocation weights;
  weights.pid = 4711;
  weights.kind = Kind::dram;
  weights.id = 7;
  weights.address = 1'048'640;
  weights.bytes = 24 * kMiB - 100;
  weights.bytes_per_bank = 2 * kMiB;
  weights.physical_bytes = 24 * kMiB;
  weights.banks = 12;
  weights.age_ns = 312'000'000'000;
  weights.label = "layers.0.attention.wqkv";
  model::Allocation shard = weights;
  shard.device = 1;
  shard.kind = Kind::l1;
  shard.id = 8;
  shard.bytes = 512 * 1024;
  shard.bytes_per_bank = 64 * 1024;
  shard.physical_bytes = 512 * 1024;
  shard.banks = 8;
  shard.cores = first_row(8);
  shard.label = "";
  model::Allocation kernel;
  kernel.pid = 4711;
  kernel.kind = Kind::kernel;
  kernel.id = 1;
  kernel.bytes = 204'800;
  kernel.persistent = true;
  kernel.estimate = true;
  snapshot.allocations = {kernel, shard, weights};
  for (std::uint64_t i = 0; i < 3; ++i) {
    model::Program p;
    p.device = static_cast<std::uint32_t>(i % 2);
    p.pid = 4711;
    p.program = 100 + i;
    p.cbs = {{105'664, 4096 * (i + 1), CoreMask::first(64), false},
             {974'336, 2048, CoreMask::first(8), true}};
    p.cores = 64;
    p.bytes_per_core = 4096 * (i + 1);
    p.physical_bytes = p.bytes_per_core * 64;
    p.logical_bytes = p.physical_bytes;
    p.exclusive_bytes = i == 2 ? 4096 * 64 : 0;
    p.resident_cores = i == 0 ? 64 : 0;
    p.age_ns = 1'500'000'000 * (i + 1);
    snapshot.programs.push_back(p);
  }
  return snapshot;
}

}  // namespace ttmem::views::fixtures
