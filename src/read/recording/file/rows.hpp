// SPDX-License-Identifier: Apache-2.0
//
// What a recording says, as plain values: one structure for each table of docs/guides/recording.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer_layout.hpp"
#include "base/core_mask.hpp"
#include "base/kinds.hpp"
#include "base/scope_visits.hpp"

namespace ttmem::recording {

using RowId = std::int64_t;  // of a row in its table, from 1; 0: none
using Time = std::int64_t;   // nanoseconds since the recording began; negative: before that

// 73 years. Times beyond that are mistakes, and would make differences overflow.
inline constexpr Time kMostTime = Time{1} << 61;
[[nodiscard]] constexpr bool is_possible(Time time) {
  return time >= -kMostTime && time <= kMostTime;
}
// Returns the nearest possible time: clocks of machines and processes may be absurd.
[[nodiscard]] constexpr Time possible(Time time) { return std::clamp(time, -kMostTime, kMostTime); }

inline constexpr std::string_view kSchema = "ttmem.recording.v1";

struct Run {
  std::string version{};  // of the ttmem that wrote it
  std::string source{};   // "record", or what it was imported from: "ttnn-graph", "capture"
  std::string command{};  // empty: it was attached to processes
  std::string host{};
  std::uint64_t started_unix_ns = 0;
  std::optional<Time> ended_ns{};  // none: whoever wrote it was killed
  std::optional<int> exit_code{};  // of the command
  std::uint64_t events = 0;        // that were recorded
  std::uint64_t lost_events = 0;
  bool aggregate = false;  // holds only what was live at the end, and the time line
  // The number of untracked processes of the command by reason.
  std::map<std::string, std::uint64_t> not_tracked{};
  std::string imported{};  // of an import: what the other tool says itself, as JSON; else empty
};

// Why something ended. `none`: it was there when the recording ended.
enum class Ending : std::uint8_t {
  none,
  freed,
  changed,        // goes on in another row: another size, other devices, another layout
  device_closed,  // it was left on the device
  process_ended,  // its process ended without a free
  gap,            // somewhere in a gap; its end is the begin of that
};

struct Process {
  RowId id = 0;
  std::int32_t pid = 0;
  std::string name{};
  std::string command{};
  std::string user{};
  Time begin_ns = 0;
  std::optional<Time> end_ns{};
  bool killed = false;  // ended without a clean exit
};

// One device of one process, from its opening to its closing. Zero or empty is unknown.
struct Device {
  RowId id = 0;
  RowId process = 0;
  std::uint32_t number = 0;
  std::uint64_t uid = 0;
  std::string arch{};
  std::string board{};
  std::uint16_t grid_x = 0;
  std::uint16_t grid_y = 0;
  std::uint32_t l1_bytes_per_core = 0;
  std::uint32_t l1_base = 0;
  std::uint32_t l1_small_bytes_per_core = 0;
  std::uint32_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t trace_region_bytes = 0;
  std::uint32_t known_kinds = 0;  // bit of each kind that the process reports
  bool resident_known = false;    // dispatches are reported and recorded
  bool cb_estimate = false;
  Time begin_ns = 0;
  std::optional<Time> end_ns{};

  friend bool operator==(const Device&, const Device&) = default;
};

// How often a process had entered and left a scope when it ended, or when the recording did.
struct ScopeOfProcess {
  RowId process = 0;
  std::uint32_t scope = 0;  // row of scopes
  ScopeVisits visits{};
};

// What was asked for. Allocations of the same label, size and place share one.
struct Request {
  Kind kind = Kind::dram;
  std::uint8_t role = 0;  // of a kernel: ttmem_kernel_role
  bool own_banks = false;
  bool estimate = false;
  bool has_bytes_per_bank = false;
  std::uint32_t banks = 0;  // that it takes; 0: unknown
  std::uint32_t cores = 0;  // row of core_sets; 0: in every bank
  std::uint32_t label = 0;  // row of texts; 0: none
  std::uint32_t scope = 0;  // row of scopes; 0: none
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;
  BufferLayout layout{};

  // What it takes of each device: physical where known.
  [[nodiscard]] std::uint64_t used_bytes() const {
    return has_bytes_per_bank && banks != 0 ? bytes_per_bank * banks : bytes;
  }
  // Kernels of the fabric and of the dispatch: they are there until their device is closed.
  [[nodiscard]] bool is_persistent() const { return kind == Kind::kernel && role != 0; }
  friend bool operator==(const Request&, const Request&) = default;
};

// From its allocation to its end, on each device of a set.
struct Allocation {
  RowId id = 0;
  RowId devices = 0;  // set of devices
  RowId request = 0;
  std::uint64_t number = 0;  // its id in the process
  std::optional<std::uint64_t> address{};
  Time begin_ns = 0;
  std::optional<Time> end_ns{};
  Ending ending = Ending::none;
};

struct Cb {
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;  // on each core
  bool global = false;      // a view on an L1 buffer
  CoreMask cores{};

  friend bool operator==(const Cb&, const Cb&) = default;
};
// The circular buffers of all programs that have the same ones.
using Layout = std::vector<Cb>;

// A program on one device, from its placement to its end or to another layout.
struct Program {
  RowId id = 0;
  RowId device = 0;
  RowId layout = 0;          // 0: unknown, it was gone before it could be read
  std::uint64_t number = 0;  // its id in the process
  std::uint32_t name = 0;    // row of texts; 0: none
  std::uint32_t scope = 0;   // row of scopes; 0: none
  Time begin_ns = 0;
  std::optional<Time> end_ns{};
  Ending ending = Ending::none;
};

// What is dispatched: one program, or those of a trace.
struct Launch {
  bool trace = false;
  std::vector<std::uint64_t> programs{};  // Program::number

  friend bool operator==(const Launch&, const Launch&) = default;
};

struct Dispatch {
  RowId id = 0;
  Time time_ns = 0;
  RowId devices = 0;  // set of devices
  RowId launch = 0;
};

struct Mark {
  Time time_ns = 0;
  RowId process = 0;
  std::string name{};
};

// Memory did not suffice (`ttmem_failure`).
struct Failure {
  Time time_ns = 0;
  RowId process = 0;
  std::string text{};  // what the runtime said, in one line or more; empty: unknown
};

// Events of a process that were overwritten before they were read. The state after it is right.
struct Gap {
  RowId process = 0;
  Time begin_ns = 0;
  Time end_ns = 0;
  std::uint64_t lost_events = 0;
};

// The figures of a device at a moment, of one kind.
struct Sample {
  Time time_ns = 0;
  RowId device = 0;
  Kind kind = Kind::dram;
  std::uint64_t used_bytes = 0;
  std::uint64_t peak_bytes = 0;  // since the device was opened, as the process itself counts
};

}  // namespace ttmem::recording
