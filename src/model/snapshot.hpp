// SPDX-License-Identifier: Apache-2.0
//
// What every device and process holds at one moment: plain values, filled by the collector, read
// by the views. No clock, no I/O, no threads. An empty optional is unknown, and is shown as n/a,
// null or not at all; a zero was measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core_mask.hpp"
#include "base/saturating.hpp"

namespace ttmem::model {

using Bytes = std::optional<std::uint64_t>;

// What holds memory. `system` is host memory: counted, never shown as device memory.
enum class Kind : std::uint8_t { dram, l1, l1_small, trace, cb, kernel, system };
inline constexpr std::array<Kind, 7> kAllKinds = {
    Kind::dram, Kind::l1, Kind::l1_small, Kind::trace, Kind::cb, Kind::kernel, Kind::system};

[[nodiscard]] constexpr std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 7> names = {"dram", "l1",     "l1_small", "trace",
                                                     "cb",   "kernel", "system"};
  return names[static_cast<std::size_t>(kind)];
}

// A process that runs, or the segment of one that ended without saying so.
enum class State : std::uint8_t { alive, dead };

// Where a figure comes from: our own tracker, or the region that TT-Metal writes by itself.
enum class Source : std::uint8_t { ttmem, tt_metal };

// One process on one device. Bytes are what is gone from the device (physical where known).
struct Process {
  std::int32_t pid = 0;
  std::string name;     // short, as in /proc/PID/comm
  std::string command;  // the whole command line when known, else empty
  std::string user;
  State state = State::alive;
  Source source = Source::ttmem;
  Bytes dram_bytes;
  Bytes l1_bytes;
  Bytes l1_small_bytes;
  Bytes trace_bytes;
  Bytes cb_bytes;  // physical
  Bytes kernels_bytes;
  std::optional<std::uint64_t> allocations;  // live buffers and kernels
};

// All that a process is known to hold.
[[nodiscard]] constexpr std::uint64_t held_bytes(const Process& process) {
  std::uint64_t sum = 0;
  for (const Bytes& part : {process.dram_bytes, process.l1_bytes, process.l1_small_bytes,
                            process.trace_bytes, process.cb_bytes, process.kernels_bytes}) {
    sum = saturating_add(sum, part.value_or(0));
  }
  return sum;
}

struct Core {
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  Bytes cb_bytes;
  Bytes cb_resident_bytes;
  Bytes l1_bytes;
  // Lowest L1 buffer minus end of the CB region; negative when they clash.
  std::optional<std::int64_t> headroom_bytes;
};

// Counted since the processes that are alive now began; `overlapping_buffers` is the state now.
struct Anomalies {
  std::uint64_t unknown_frees = 0;
  std::uint64_t allocs_over_live = 0;
  std::uint64_t overlapping_buffers = 0;
  std::uint64_t unknown_programs = 0;
  std::uint64_t bad_arguments = 0;
  std::uint64_t left_at_close = 0;
  std::uint64_t left_at_close_bytes = 0;

  friend bool operator==(const Anomalies&, const Anomalies&) = default;
};

// Figures of a device are sums over the living processes on it; dead ones are only listed.
// A peak over several processes is the largest total that is certain to have been reached.
struct Device {
  std::uint32_t id = 0;
  std::optional<std::uint64_t> uid;
  std::string arch;          // empty: unknown
  std::string board;         // empty: unknown
  std::uint16_t grid_x = 0;  // 0: unknown
  std::uint16_t grid_y = 0;
  std::uint32_t dram_channels = 0;  // 0: unknown

  Bytes dram_used_bytes;  // physical where known
  Bytes dram_peak_bytes;
  Bytes dram_capacity_bytes;
  Bytes dram_logical_bytes;

  Bytes l1_used_bytes;  // Total L1: buffers + small + CB physical + kernels
  Bytes l1_peak_bytes;
  Bytes l1_capacity_bytes;  // of all compute cores
  // The L1 of one core, low to high: reserved, from `l1_base` CBs and L1 buffers, then L1_SMALL.
  Bytes l1_bytes_per_core;
  Bytes l1_base;
  Bytes l1_small_region_bytes;  // per core; 0: none was set up
  Bytes l1_buffers_bytes;       // physical where known: the part of l1_used_bytes
  Bytes l1_buffers_logical_bytes;
  Bytes l1_buffers_physical_bytes;  // unknown when one buffer's bytes per bank are unknown
  Bytes l1_small_bytes;
  Bytes cb_physical_bytes;
  Bytes cb_peak_bytes;  // of physical
  Bytes cb_resident_bytes;
  Bytes cb_logical_bytes;
  Bytes kernels_bytes;
  Bytes kernels_persistent_bytes;  // dispatch and fabric: loaded until the device closes
  Bytes kernels_estimated_bytes;   // sizes that somebody estimated
  std::optional<std::int64_t> headroom_bytes_per_core;  // the smallest of all cores

  Bytes trace_used_bytes;
  Bytes trace_peak_bytes;
  Bytes trace_capacity_bytes;

  Bytes system_bytes;  // host memory of buffers on this device

  std::optional<std::uint64_t> programs;
  std::optional<std::uint64_t> allocations_total;
  std::optional<std::uint64_t> frees_total;
  Anomalies anomalies;
  std::vector<Process> processes;  // the living first, then by bytes held
  std::vector<Core> cores;         // row by row; empty when the grid is unknown
};

// One live buffer, kernel or circular buffer.
struct Allocation {
  std::uint32_t device = 0;  // index into Snapshot::devices
  std::int32_t pid = 0;
  State state = State::alive;
  Kind kind = Kind::dram;
  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;  // logical: as asked for
  Bytes bytes_per_bank;
  Bytes physical_bytes;  // bytes per bank times banks
  std::optional<std::uint32_t> banks;
  std::optional<CoreMask> cores;  // none: every bank
  std::uint64_t age_ns = 0;
  bool persistent = false;  // a dispatch or fabric kernel
  bool estimate = false;    // `bytes` is one
  std::string label;        // empty: none
};

struct CircularBuffer {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // on each core
  CoreMask cores;
  bool global = false;  // a view on an L1 buffer: not counted
};

// A live program on one device.
struct Program {
  std::uint32_t device = 0;  // index into Snapshot::devices
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t program = 0;
  std::vector<CircularBuffer> cbs;
  std::uint32_t cores = 0;           // that have any of its CBs, also a global one
  std::uint64_t bytes_per_core = 0;  // the most on one core: union of its own CBs
  std::uint64_t physical_bytes = 0;  // summed over its cores
  std::uint64_t logical_bytes = 0;
  std::uint64_t exclusive_bytes = 0;  // what its end alone would free: no other program's CB there
  std::uint32_t resident_cores = 0;   // cores on which it was dispatched last; 0: placed only
  std::uint64_t age_ns = 0;
};

struct Snapshot {
  std::uint64_t time_unix_ns = 0;
  std::string host;
  std::vector<Device> devices;  // by id, then uid
  std::vector<Allocation> allocations;
  std::vector<Program> programs;
  std::vector<std::string> warnings;  // whole sentences: object, reason, next step
};

}  // namespace ttmem::model
