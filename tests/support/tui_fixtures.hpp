// SPDX-License-Identifier: Apache-2.0
//
// Fixed snapshots for the tests of the screens. No figure is unknown. The L1 figures of a core
// agree with the listed L1 buffers, except on the core that clashes.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/compose.hpp"
#include "show/tui/screen/player.hpp"
#include "support/views_fixtures.hpp"

namespace ttmem::tui::fixtures {

using views::fixtures::kGiB;
using views::fixtures::kMiB;

inline constexpr std::uint64_t kL1Base = 105'664;
inline constexpr std::uint64_t kSmallRegion = 16'384;
inline constexpr std::uint64_t kL1End = views::fixtures::kL1PerCore;

inline model::Allocation buffer(std::uint32_t device, Kind kind, std::uint64_t address,
                                std::uint64_t per_bank, std::string label) {
  model::Allocation a;
  a.device = device;
  a.pid = 4711;
  a.kind = kind;
  a.address = address;
  a.bytes_per_bank = per_bank;
  a.banks = kind == Kind::dram ? 12 : 64;
  a.bytes = per_bank * *a.banks;
  a.physical_bytes = a.bytes;
  a.age_ns = 90'000'000'000;
  a.label = std::move(label);
  a.id = address;
  return a;
}

inline model::Program program(std::uint32_t device, std::uint64_t number,
                              std::vector<model::CircularBuffer> cbs) {
  model::Program p;
  p.device = device;
  p.pid = 4711;
  p.program = number;
  p.cbs = std::move(cbs);
  p.age_ns = 5'000'000'000;
  return p;
}

// Returns a device whose cores have different figures. Cores further to the right or further down
// have more CB bytes, and the last core clashes.
inline model::Device varied(std::uint32_t id) {
  model::Device d = views::fixtures::wormhole(id);
  d.l1_bytes_per_core = kL1End;
  d.l1_base = kL1Base;
  d.l1_small_region_bytes = kSmallRegion;
  for (model::Core& core : d.cores) {
    core.cb_bytes = std::uint64_t{16'384} * (core.x + std::uint64_t{8} * core.y);
    core.l1_bytes = 262'144;
    core.l1_data_bytes = 262'144;
    core.headroom_bytes = 1'114'944 - static_cast<std::int64_t>(*core.cb_bytes);
  }
  d.cores.back().headroom_bytes = -2'048;
  d.headroom_bytes_per_core = -2'048;
  return d;
}

// Returns a snapshot of `count` devices. One process has allocations and programs on the first
// device.
inline model::Snapshot machine(std::uint32_t count) {
  std::vector<model::Device> devices;
  for (std::uint32_t id = 0; id < count; ++id) devices.push_back(varied(id));
  model::Snapshot s = views::fixtures::snapshot_of(std::move(devices));
  s.allocations = {buffer(0, Kind::dram, 1'048'640, 4 * kMiB, "layers.0.weight"),
                   buffer(0, Kind::l1, kL1End - kSmallRegion - 131'072, 131'072, "residual"),
                   buffer(0, Kind::l1, kL1End - kSmallRegion - 262'144, 131'072, "attention"),
                   buffer(0, Kind::l1_small, kL1End - 1'024, 1'024, "semaphores")};
  const CoreMask all = CoreMask::first(64);
  s.programs = {
      program(0, 77, {{kL1Base, 65'536, all, false}, {kL1Base + 65'536, 32'768, all, false}}),
      program(0, 78, {{kL1Base, 65'536, all, false}}),
      program(0, 79, {{kL1End - kSmallRegion - 131'072, 4'096, all, true}})};
  return s;
}

// Returns a snapshot with one device. The bytes of one L1 buffer are only on the first row of
// cores.
inline model::Snapshot sharded() {
  model::Snapshot s = machine(1);
  const CoreMask row = CoreMask::first(8);
  s.allocations[2].cores = row;
  s.devices[0].lockstep_bytes[Kind::l1] = 56 * 131'072;
  for (model::Core& core : s.devices[0].cores) core.l1_data_bytes = core.y == 0 ? 262'144 : 131'072;
  return s;
}

// Returns a snapshot with four processes, one of which is dead.
inline model::Snapshot crowd() {
  model::Snapshot s = machine(2);
  const auto add = [&](std::int32_t pid, std::string name, std::uint64_t dram, model::State state) {
    model::Process p = views::fixtures::process(pid, std::move(name), "");
    p.kinds[Kind::dram].set(&KindFigures::used_bytes, dram);
    p.state = state;
    s.devices[1].processes.push_back(std::move(p));
  };
  add(50, "trainer", 3 * kGiB, model::State::alive);
  add(60, "evaluator", kGiB, model::State::alive);
  add(4200, "pytest", 2 * kGiB, model::State::dead);
  return s;
}

// Returns the history of the minute before the snapshot, with two samples a second. The figures
// rise, stay constant, then fall.
inline ChartHistory ramp(const model::Snapshot& snapshot) {
  ChartHistory history;
  model::Snapshot past = snapshot;
  for (int i = 120; i >= 0; --i) {
    past.time_unix_ns = snapshot.time_unix_ns - static_cast<std::uint64_t>(i) * 500'000'000;
    const auto level = static_cast<std::uint64_t>(i > 60 ? 120 - i : i > 20 ? 60 : 30);
    for (model::Device& d : past.devices) {
      d.kinds[Kind::dram].set(&KindFigures::used_bytes, level * 12 * kGiB / 64);
      d.kinds[Kind::l1].set(&KindFigures::used_bytes, level * kMiB / 4);
      d.kinds[Kind::cb].set(&KindFigures::used_bytes, level * kMiB / 2);
      d.l1_used_bytes =
          *d.used(Kind::l1) + *d.used(Kind::cb) + *d.used(Kind::l1_small) + *d.used(Kind::kernel);
    }
    history.add(past);
  }
  return history;
}

// Returns a recording of one minute with two marks, a gap and two peaks.
inline std::shared_ptr<const Tape> tape() {
  auto tape = std::make_shared<Tape>();
  tape->name = "run.ttmem";
  tape->end_ns = 60'000'000'000;
  tape->marks = {{15'000'000'000, "iteration 1"}, {40'000'000'000, "iteration 2"}};
  tape->gaps = {{20'000'000'000, 25'000'000'000, 12}};
  tape->peaks = {{30'000'000'000, "L1 of device 0"}, {50'000'000'000, "DRAM of device 0"}};
  return tape;
}

// Returns the history of ramp() with times that are counted from the begin of the recording.
inline ChartHistory recorded_ramp(const model::Snapshot& snapshot) {
  const ChartHistory live = ramp(snapshot);
  const std::uint64_t begin = snapshot.time_unix_ns - 60'000'000'000;
  ChartHistory recorded;
  for (const model::Device& device : snapshot.devices) {
    std::vector<ChartSample> samples(live.of(device).begin(), live.of(device).end());
    for (ChartSample& sample : samples) sample.time_unix_ns -= begin;
    recorded.prepend(device, samples);
  }
  return recorded;
}

inline constexpr std::array<Size, 3> kSizes = {{{80, 24}, {120, 40}, {200, 60}}};

}  // namespace ttmem::tui::fixtures
