// SPDX-License-Identifier: Apache-2.0
//
// What every device and process holds at one moment: plain values, filled by the collector, read
// by the views. No clock, no I/O, no threads. An empty optional is unknown, and is shown as n/a,
// null or not at all; a zero was measured.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/anomalies.hpp"
#include "base/core_mask.hpp"
#include "base/job.hpp"
#include "base/kind_figures.hpp"
#include "base/kinds.hpp"
#include "base/saturating.hpp"
#include "base/scope_visits.hpp"

namespace ttmem::model {

using Bytes = std::optional<std::uint64_t>;

// Alive: the process runs. Dead: it ended without a clean exit, and its segment is still there.
enum class State : std::uint8_t { alive, dead };

// Where a process is known from: our own tracker, the region that TT-Metal writes by itself, or
// only the kernel driver, which tells who has a chip open and nothing of memory.
enum class Source : std::uint8_t { ttmem, tt_metal, driver };

[[nodiscard]] constexpr std::string_view name_of(State state) {
  return state == State::dead ? "dead" : "alive";
}
[[nodiscard]] constexpr std::string_view name_of(Source source) {
  constexpr std::array<std::string_view, 3> names = {"ttmem", "tt-metal", "driver"};
  return names[static_cast<std::size_t>(source)];
}

// Tells processes apart, also from one Snapshot to the next. Pids alone do not: each container has
// its own, and a dead process may have the pid of a living one.
struct ProcessKey {
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t segment = 0;  // the number of its file; 0: only TT-Metal's region knows it

  friend auto operator<=>(const ProcessKey&, const ProcessKey&) = default;
};

// Of a Process, or of the one that has an Allocation or Program.
template <typename Item>
[[nodiscard]] constexpr ProcessKey key_of(const Item& item) {
  return {item.pid, item.state, item.segment};
}

// One process on one device. Bytes are physical where known, else logical.
struct Process {
  std::int32_t pid = 0;       // as the process itself sees it
  std::uint64_t segment = 0;  // as in ProcessKey
  bool foreign_pid = false;   // `pid` is of another pid namespace than the reader's
  std::optional<std::uint32_t> pid_namespace;  // of `pid`; none: unknown
  std::optional<std::int32_t> host_pid;        // the pid that the reader would use; none: unknown
  bool supposed_device = false;  // it names no chip: taken for the only one with that number
  std::string name;              // short, as in /proc/PID/comm
  std::string command;           // the whole command line when known, else empty
  std::string user;
  Job job{};
  State state = State::alive;
  Source source = Source::ttmem;
  PerKind<KindFigures> kinds{};
  Bytes kernels_estimated_bytes;    // of the kernels, sizes that are estimates
  std::optional<bool> cb_estimate;  // the figures of the CBs are one; unknown when those are
  std::string not_tracked;          // why nothing is known of it; empty: it is tracked
  bool may_hold = true;             // of one that is not tracked. False: it has no TT-Metal

  [[nodiscard]] constexpr Bytes used(Kind kind) const {
    return kinds[kind].get(&KindFigures::used_bytes);
  }
};

// All that a process is known to hold.
[[nodiscard]] constexpr std::uint64_t held_bytes(const Process& process) {
  std::uint64_t sum = 0;
  for (const Kind kind : kDeviceKinds) sum = saturating_add(sum, process.used(kind).value_or(0));
  return sum;
}

struct Core {
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  Bytes cb_bytes;
  Bytes cb_resident_bytes;
  Bytes l1_bytes;       // taken by L1 buffers
  Bytes l1_data_bytes;  // of those, by buffers with bytes on this core
  // Lowest L1 buffer minus end of the CB region; negative when they clash.
  std::optional<std::int64_t> headroom_bytes;

  friend bool operator==(const Core&, const Core&) = default;
};

// What the runtime's allocator has left of one kind in every bank; both known or neither.
struct FreeSpace {
  Bytes bytes_per_bank;
  Bytes largest_per_bank;  // the largest block: what one buffer can have at most
};

// Figures of a device are sums over the living processes on it that report them; what none of them
// reports is unknown. Dead processes are only listed.
// A peak over several processes is the largest total that is certain to have been reached.
struct Device {
  std::uint32_t id = 0;            // its number
  std::vector<std::uint32_t> ids;  // all numbers that processes give it, ascending
  bool shares_number = false;      // another chip has one of them too
  std::optional<std::uint64_t> uid;
  std::string arch;          // empty: unknown
  std::string board;         // empty: unknown
  std::uint16_t grid_x = 0;  // 0: unknown
  std::uint16_t grid_y = 0;
  std::uint32_t dram_channels = 0;  // 0: unknown

  // What the kernel driver tells; of a chip without a PCIe link of its own, nothing.
  std::optional<std::uint32_t> driver_number;  // N of /dev/tenstorrent/N
  std::string bus_id;                          // "0000:01:00.0"; empty: unknown
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<std::uint32_t> aiclk_mhz;
  bool in_reset = false;              // the firmware does not answer
  bool holders_known = false;         // the driver tells who has it open; else others may, unseen
  std::vector<std::int32_t> holders;  // those that are seen; 0: of another pid namespace
  std::vector<std::uint64_t> other_uids;  // what processes call it, where that is not `uid`
  bool idle = false;                      // nobody has it open, so that nothing is in use
  std::uint32_t card_chips = 0;           // on its card; 0: unknown
  // Who states the capacities. If no process does: those of every card or chip of this type.
  enum class Statement : std::uint8_t { process, card, chip } capacities_from = Statement::process;

  bool complete = true;  // false: what could not be read may hold more, sums are "at least"

  PerKind<KindFigures> kinds{};
  // Of the physical bytes, those on cores that hold none of their buffer's bytes: an allocator
  // takes a range on all of its cores (lockstep). Of l1 and l1_small only.
  PerKind<Bytes> lockstep_bytes{};

  PerKind<FreeSpace> free{};  // of dram, l1, l1_small and trace; CBs are not the allocator's

  Bytes dram_capacity_bytes;
  Bytes trace_capacity_bytes;
  Bytes l1_capacity_bytes;  // of all compute cores
  // Total L1: buffers + small + CB physical + kernels, as far as they are reported. Unknown when L1
  // buffers are.
  Bytes l1_used_bytes;
  Bytes l1_peak_bytes;
  // The L1 of one core, low to high: reserved, from `l1_base` CBs and L1 buffers, then L1_SMALL.
  Bytes l1_bytes_per_core;
  Bytes l1_base;
  Bytes l1_small_region_bytes;                          // per core; 0: none was set up
  std::optional<std::int64_t> headroom_bytes_per_core;  // the smallest of all cores

  Bytes cb_resident_bytes;
  Bytes kernels_persistent_bytes;   // dispatch and fabric: loaded until the device closes
  Bytes kernels_estimated_bytes;    // of sizes that are estimates
  std::optional<bool> cb_estimate;  // the figures of the CBs are one, or have one in them
  std::optional<std::uint64_t> programs;
  std::optional<Anomalies> anomalies;  // none: no living process is tracked
  std::vector<Process> processes;      // the living first, then by bytes held
  std::vector<Core> cores;             // row by row; empty when the grid is unknown

  [[nodiscard]] constexpr Bytes used(Kind kind) const {
    return kinds[kind].get(&KindFigures::used_bytes);
  }
  [[nodiscard]] constexpr Bytes peak(Kind kind) const {
    return kinds[kind].get(&KindFigures::peak_bytes);
  }
  [[nodiscard]] constexpr Bytes physical(Kind kind) const { return physical_bytes(kinds[kind]); }
  // The physical bytes on the cores that hold their buffer's bytes.
  [[nodiscard]] constexpr Bytes data(Kind kind) const {
    const Bytes all = physical(kind);
    const Bytes lockstep = lockstep_bytes[kind];
    return all && lockstep ? Bytes(*all - std::min(*all, *lockstep)) : std::nullopt;
  }
  [[nodiscard]] constexpr Bytes logical(Kind kind) const {
    return kinds[kind].get(&KindFigures::logical_bytes);
  }
};

[[nodiscard]] inline std::uint64_t living_processes(const Device& device) {
  return static_cast<std::uint64_t>(
      std::count_if(device.processes.begin(), device.processes.end(),
                    [](const Process& process) { return process.state == State::alive; }));
}

// Those that have it open, report nothing, and may hold memory.
[[nodiscard]] inline std::uint64_t untracked_processes(const Device& device) {
  return static_cast<std::uint64_t>(std::count_if(
      device.processes.begin(), device.processes.end(),
      [](const Process& process) { return !process.not_tracked.empty() && process.may_hold; }));
}

// False: the driver does not tell who has it open, and none is seen. Others may.
[[nodiscard]] inline bool users_known(const Device& device) {
  return !device.driver_number || device.holders_known || living_processes(device) > 0;
}

// One live buffer, kernel or circular buffer. One that lies on several devices has the same address
// and sizes on each: they are those on one device.
struct Allocation {
  std::uint32_t device = 0;            // index into Snapshot::devices
  std::vector<std::uint32_t> devices;  // of a mesh: all of them, ascending, `device` first
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t segment = 0;  // as in ProcessKey
  Kind kind = Kind::dram;
  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;  // logical: as asked for
  Bytes bytes_per_bank;
  Bytes physical_bytes;                // bytes per bank times banks
  std::optional<std::uint32_t> banks;  // that it takes
  std::optional<CoreMask> cores;       // where its bytes lie; none: in every bank
  bool own_banks = false;              // takes the banks of `cores` only; else every bank
  std::uint64_t age_ns = 0;
  bool persistent = false;  // a dispatch or fabric kernel
  bool estimate = false;    // `bytes` is an estimate
  bool left_out = false;    // its process claims more than there is: in no sum
  std::string label;        // empty: none
  std::string scope;        // in which it was allocated, "decoder.0/attention"; empty: none
  ScopeVisit visit;         // of that scope
};

// Where something comes from, for people: its scope and its own name in one.
[[nodiscard]] inline std::string origin_of(const std::string& scope, const std::string& name) {
  return scope.empty() || name.empty() ? scope + name : scope + "/" + name;
}

// The devices that it lies on.
[[nodiscard]] inline std::span<const std::uint32_t> devices_of(const Allocation& allocation) {
  if (allocation.devices.empty()) return {&allocation.device, 1};
  return allocation.devices;
}

// `bytes` of one of its devices, on all of them.
[[nodiscard]] inline std::uint64_t on_all_devices(const Allocation& allocation,
                                                  std::uint64_t bytes) {
  return saturating_mul(bytes, std::uint64_t{devices_of(allocation).size()});
}

[[nodiscard]] inline bool is_on(const Allocation& allocation, std::size_t device) {
  const auto devices = devices_of(allocation);
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

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
  std::uint64_t segment = 0;  // as in ProcessKey
  std::uint64_t program = 0;
  std::string name;   // empty: none
  std::string scope;  // in which it was placed; empty: none
  ScopeVisit visit;   // of that scope
  std::vector<CircularBuffer> cbs;
  std::uint32_t cores = 0;           // that have any of its CBs, also a global one
  std::uint64_t bytes_per_core = 0;  // the most on one core: union of its own CBs
  std::uint64_t physical_bytes = 0;  // summed over its cores
  std::uint64_t logical_bytes = 0;
  std::uint64_t exclusive_bytes = 0;  // what its end would free: no other program's CBs lie there
  std::uint32_t resident_cores = 0;   // cores on which it was dispatched last; 0: placed only
  std::uint64_t age_ns = 0;
};

// What a process had not freed when it closed a device, over all times that it did.
struct LeftAtClose {
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t segment = 0;  // as in ProcessKey
  bool foreign_pid = false;   // as in Process
  std::optional<std::int32_t> host_pid;
  std::string name;                 // of the process
  std::uint32_t device_number = 0;  // what the process calls it; it may be open again
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
};

struct Snapshot {
  std::uint64_t time_unix_ns = 0;
  std::string host;
  std::vector<Device> devices;  // by id, then uid
  std::vector<Allocation> allocations;
  std::vector<Program> programs;
  std::vector<LeftAtClose> left_at_close;
  std::vector<std::string> warnings;  // whole sentences: object, reason, next step
  std::vector<std::string> unread;    // those of them about what could not be read

  // False: something could not be read, so that sums are "at least".
  [[nodiscard]] bool complete() const { return unread.empty(); }
  // True if nothing at all could be read.
  [[nodiscard]] bool blind() const { return devices.empty() && !complete(); }
};

}  // namespace ttmem::model
