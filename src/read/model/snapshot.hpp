// SPDX-License-Identifier: Apache-2.0
// The memory that every device and process holds at one moment. All structures hold plain values,
// which the collector fills in and the views read. The functions use no clock, no I/O and no
// threads. An empty optional means "unknown" and is shown as n/a, as null or not at all; a zero is
// always a measured zero.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
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

// alive: the process runs. dead: the process ended without a clean exit, and its segment still
// exists.
enum class State : std::uint8_t { alive, dead };

// The source that reports a process: ttmem's own tracker, the region that TT-Metal writes by
// itself, or the kernel driver. The driver reports which processes have a chip open, but nothing
// about memory.
enum class Source : std::uint8_t { ttmem, tt_metal, driver };

[[nodiscard]] constexpr std::string_view name_of(State state) {
  return state == State::dead ? "dead" : "alive";
}
[[nodiscard]] constexpr std::string_view name_of(Source source) {
  constexpr std::array<std::string_view, 3> names = {"ttmem", "tt-metal", "driver"};
  return names[static_cast<std::size_t>(source)];
}

// Identifies a process, also from one Snapshot to the next. A pid is ambiguous: each container has
// its own pids, and a dead process may have the pid of a living process.
struct ProcessKey {
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t segment = 0;  // the number of its segment; 0 if it has none

  friend auto operator<=>(const ProcessKey&, const ProcessKey&) = default;
};

// Returns the key of a Process, or of the process that owns an Allocation or a Program.
template <typename Item>
[[nodiscard]] constexpr ProcessKey key_of(const Item& item) {
  return {item.pid, item.state, item.segment};
}

// One process on one device. Bytes are physical where known, else logical.
struct Process {
  std::int32_t pid = 0;       // as the process itself sees it
  std::uint64_t segment = 0;  // as in ProcessKey
  bool foreign_pid = false;   // `pid` belongs to another pid namespace than the reader's
  std::optional<std::uint32_t> pid_namespace;  // of `pid`; nullopt if unknown
  std::optional<std::int32_t> host_pid;        // in the reader's pid namespace; nullopt if unknown
  // True if the process reports only a device number and no uid. The device is then assumed to be
  // the only chip with that number.
  bool supposed_device = false;
  std::string name;     // the short name, as in /proc/PID/comm
  std::string command;  // the whole command line; empty if unknown
  std::string user;
  Job job{};
  State state = State::alive;
  Source source = Source::ttmem;
  PerKind<KindFigures> kinds{};
  Bytes kernels_estimated_bytes;    // the part of the kernel bytes that is estimated
  std::optional<bool> cb_estimate;  // true if the CB figures are estimates; nullopt if unknown
  std::string not_tracked;          // why the process is not tracked; empty if it is tracked
  bool may_hold = true;             // false: has not loaded TT-Metal and so holds no device memory

  [[nodiscard]] constexpr Bytes used(Kind kind) const {
    return kinds[kind].get(&KindFigures::used_bytes);
  }
};

// Returns the sum of all bytes that the process is known to hold.
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
  Bytes l1_data_bytes;  // the part of l1_bytes in buffers with data on this core
  // The address of the lowest L1 buffer minus the end of the CBs; negative if they clash.
  std::optional<std::int64_t> headroom_bytes;

  friend bool operator==(const Core&, const Core&) = default;
};

// The memory of one kind that the runtime's allocator can still give to buffers, per bank. Either
// both figures are known or both are unknown.
struct FreeSpace {
  Bytes bytes_per_bank;
  Bytes largest_per_bank;  // the largest free block, which limits the size of a buffer
};

// The figures of a device are sums over the living processes on it that report the figure; a figure
// that no process reports is unknown. Dead processes are listed, and not part of any sum. The peak
// of several processes is the largest total that is certain to have been reached.
struct Device {
  std::uint32_t id = 0;            // the device number
  std::vector<std::uint32_t> ids;  // all numbers that processes give the device, ascending
  bool shares_number = false;      // another device has one of `ids` too
  std::optional<std::uint64_t> uid;
  std::string arch;          // empty: unknown
  std::string board;         // empty: unknown
  std::uint16_t grid_x = 0;  // 0: unknown
  std::uint16_t grid_y = 0;
  std::uint32_t dram_channels = 0;  // 0: unknown

  // Reported by the kernel driver. All unknown for a chip without a PCIe link of its own.
  std::optional<std::uint32_t> driver_number;  // N of /dev/tenstorrent/N
  std::string bus_id;                          // "0000:01:00.0"; empty: unknown
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<std::uint32_t> aiclk_mhz;
  bool in_reset = false;  // the firmware does not answer
  // True if the driver lists the processes that have the chip open; otherwise `holders` may lack
  // some.
  bool holders_known = false;
  // Pids of the processes that have the chip open; 0 means a process of another pid namespace.
  std::vector<std::int32_t> holders;
  std::vector<std::uint64_t> other_uids;  // other uids by which processes name this chip
  bool idle = false;             // nothing is in use: no process that may hold memory has it open
  std::uint32_t card_chips = 0;  // number of chips on its card; 0: unknown
  // The source of the capacities: a process (process), or facts that every card of this type (card)
  // or every chip of this architecture (chip) has in common.
  enum class Statement : std::uint8_t { process, card, chip } capacities_from = Statement::process;

  bool complete = true;  // false if figures are missing: sums are then lower limits

  PerKind<KindFigures> kinds{};
  // The part of the physical bytes that lies on cores without data of the buffer, because the
  // allocator takes the same range on every core (lockstep). Only for l1 and l1_small.
  PerKind<Bytes> lockstep_bytes{};

  PerKind<FreeSpace> free{};  // for dram, l1, l1_small and trace; CBs have no allocator

  Bytes dram_capacity_bytes;
  Bytes trace_capacity_bytes;
  Bytes l1_capacity_bytes;  // of all compute cores
  // Total L1: L1 buffers + L1_SMALL + CB physical + kernels, as far as these are reported. Unknown
  // if the L1 buffers are unknown.
  Bytes l1_used_bytes;
  Bytes l1_peak_bytes;
  // The L1 of one core, from low to high addresses: a reserved part, CBs and L1 buffers from
  // `l1_base` on, then L1_SMALL.
  Bytes l1_bytes_per_core;
  Bytes l1_base;
  Bytes l1_small_region_bytes;                          // per core; 0 if there is no such region
  std::optional<std::int64_t> headroom_bytes_per_core;  // the smallest headroom of all cores

  Bytes cb_resident_bytes;
  Bytes kernels_persistent_bytes;   // dispatch and fabric kernels: loaded until the device closes
  Bytes kernels_estimated_bytes;    // the part that is estimated
  std::optional<bool> cb_estimate;  // true if the CB figures contain an estimate
  std::optional<std::uint64_t> programs;
  std::optional<Anomalies> anomalies;  // nullopt if no living process is tracked
  std::vector<Process> processes;      // living processes first, then by bytes held
  std::vector<Core> cores;             // row by row; empty if the grid is unknown

  [[nodiscard]] constexpr Bytes used(Kind kind) const {
    return kinds[kind].get(&KindFigures::used_bytes);
  }
  [[nodiscard]] constexpr Bytes peak(Kind kind) const {
    return kinds[kind].get(&KindFigures::peak_bytes);
  }
  [[nodiscard]] constexpr Bytes physical(Kind kind) const { return physical_bytes(kinds[kind]); }
  // Returns the physical bytes on the cores that hold data of the buffers.
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

// Returns the number of processes that have the device open, are not tracked, and may hold memory.
[[nodiscard]] inline std::uint64_t untracked_processes(const Device& device) {
  return static_cast<std::uint64_t>(std::count_if(
      device.processes.begin(), device.processes.end(),
      [](const Process& process) { return !process.not_tracked.empty() && process.may_hold; }));
}

// Returns false if unseen processes may use the device. In this case no process is known to use the
// device, and the driver has no list of the processes that have the device open.
[[nodiscard]] inline bool users_known(const Device& device) {
  return !device.driver_number || device.holders_known || living_processes(device) > 0;
}

// One live buffer, kernel or circular buffer. An allocation on several devices has the same address
// and sizes on each device. All sizes in this structure are sizes on one device.
struct Allocation {
  std::uint32_t device = 0;            // index into Snapshot::devices
  std::vector<std::uint32_t> devices;  // all devices of a mesh allocation, ascending; else empty
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t segment = 0;  // as in ProcessKey
  Kind kind = Kind::dram;
  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;  // logical: the size asked for
  Bytes bytes_per_bank;
  Bytes physical_bytes;                // bytes per bank times banks
  std::optional<std::uint32_t> banks;  // number of banks that it takes
  std::optional<CoreMask> cores;       // the cores that hold its data; nullopt if every bank does
  bool own_banks = false;              // takes the banks of `cores` only, not every bank
  std::uint64_t age_ns = 0;
  bool persistent = false;  // a dispatch or fabric kernel
  bool estimate = false;    // `bytes` is an estimate
  bool left_out = false;    // not in any sum, because its process reports more than the device has
  std::string label;        // empty if there is none
  std::string scope;        // the scope it was allocated in, "decoder.0/attention"; may be empty
  ScopeVisit visit;         // the visit to `scope` in which it was allocated
};

// Joins a scope and a name to one text for people.
[[nodiscard]] inline std::string origin_of(const std::string& scope, const std::string& name) {
  return scope.empty() || name.empty() ? scope + name : scope + "/" + name;
}

// Returns the devices on which the allocation lies.
[[nodiscard]] inline std::span<const std::uint32_t> devices_of(const Allocation& allocation) {
  if (allocation.devices.empty()) return {&allocation.device, 1};
  return allocation.devices;
}

// Returns `bytes`, a size on one device, times the number of the allocation's devices.
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
  std::uint64_t bytes = 0;  // size on each core
  CoreMask cores;
  bool global = false;  // a view of an L1 buffer, whose bytes count only as L1 bytes
};

// A live program on one device.
struct Program {
  std::uint32_t device = 0;  // index into Snapshot::devices
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t segment = 0;  // as in ProcessKey
  std::uint64_t program = 0;
  std::string name;   // empty if there is none
  std::string scope;  // the scope it was placed in; may be empty
  ScopeVisit visit;   // the visit to `scope` in which it was placed
  std::vector<CircularBuffer> cbs;
  std::uint32_t cores = 0;           // number of cores with any of its CBs, global CBs included
  std::uint64_t bytes_per_core = 0;  // maximum over its cores; overlapping CBs count once
  std::uint64_t physical_bytes = 0;  // sum over its cores
  std::uint64_t logical_bytes = 0;
  // Bytes that the end of the program would free, because no other program has CBs there.
  std::uint64_t exclusive_bytes = 0;
  // Number of cores on which this program was dispatched last. 0: the program is only placed.
  std::uint32_t resident_cores = 0;
  std::uint64_t age_ns = 0;
};

// The memory that a process had not freed when it closed a device, summed over all closes of the
// device.
struct LeftAtClose {
  std::int32_t pid = 0;
  State state = State::alive;
  std::uint64_t segment = 0;  // as in ProcessKey
  bool foreign_pid = false;   // as in Process
  std::optional<std::int32_t> host_pid;
  std::string name;                 // of the process
  std::uint32_t device_number = 0;  // the process's number for the device, which may be open again
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
  std::vector<std::string> warnings;  // complete sentences: object, reason, next step
  std::vector<std::string> unread;    // the warnings about data that could not be read

  // Returns false if something could not be read. The sums are then lower limits.
  [[nodiscard]] bool complete() const { return unread.empty(); }
  // Returns true if nothing at all could be read.
  [[nodiscard]] bool blind() const { return devices.empty() && !complete(); }
};

}  // namespace ttmem::model
