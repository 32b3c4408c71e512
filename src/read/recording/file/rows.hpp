// SPDX-License-Identifier: Apache-2.0
// The content of a recording as plain values: one structure for each table in
// docs/guides/recording.md.
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

using RowId = std::int64_t;  // id of a row in its table, from 1; 0: none
using Time = std::int64_t;   // nanoseconds since the recording began; may be negative

// The maximum distance of a time from the begin of the recording: 73 years. A time further away is
// an error. Within this limit, differences of times do not overflow.
inline constexpr Time kMaxTime = Time{1} << 61;
[[nodiscard]] constexpr bool is_possible(Time time) {
  return time >= -kMaxTime && time <= kMaxTime;
}
// Returns the nearest possible time, because clocks of machines and processes may be wrong.
[[nodiscard]] constexpr Time possible(Time time) { return std::clamp(time, -kMaxTime, kMaxTime); }

inline constexpr std::string_view kSchema = "ttmem.recording.v1";

struct Run {
  std::string version{};  // version of the ttmem that wrote it
  std::string source{};   // "record", or the source of an import: "ttnn-graph", "capture"
  std::string command{};  // empty if running processes were recorded
  std::string host{};
  std::uint64_t started_unix_ns = 0;
  std::optional<Time> ended_ns{};  // nullopt if its writer was killed or still writes
  std::optional<int> exit_code{};  // of the command
  std::uint64_t events = 0;        // number of recorded events
  std::uint64_t lost_events = 0;
  bool aggregate = false;  // has only the timeline and the objects that were live at the end
  // The number of untracked processes of the command by reason.
  std::map<std::string, std::uint64_t> not_tracked{};
  std::string imported{};  // the other tool's own figures as JSON; empty unless imported
};

// The reason for the end of an allocation or program. `none` means that the allocation or program
// was live when the recording ended.
enum class Ending : std::uint8_t {
  none,
  freed,
  changed,        // continued in another row, with another size or layout
  device_closed,  // not freed before its device was closed
  process_ended,  // not freed before its process ended
  gap,            // ended during a gap; end_ns is the begin of the gap
};

struct RecordedProcess {
  RowId id = 0;
  std::int32_t pid = 0;
  std::string name{};
  std::string command{};
  std::string user{};
  Time begin_ns = 0;
  std::optional<Time> end_ns{};
  // True if a signal ended it, false if it exited or called exec. nullopt if it still runs, or if
  // it ended without a clean exit and nobody knows how.
  std::optional<bool> killed{};
  int signal = 0;  // signal that ended it; 0: none, or unknown
};

// One device of one process, from open to close. Zero or empty means unknown.
struct RecordedDevice {
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
  std::uint32_t known_kinds = 0;  // one bit for each kind that the process reports
  bool resident_known = false;    // dispatches are reported and recorded
  bool cb_estimate = false;
  // The process's own peak of L1 buffers, L1_SMALL, circular buffers and kernels together.
  std::optional<std::uint64_t> l1_peak_bytes{};
  Time begin_ns = 0;
  std::optional<Time> end_ns{};

  friend bool operator==(const RecordedDevice&, const RecordedDevice&) = default;
};

// How often a process entered and left a scope until the end of the process or of the recording.
struct ScopeOfProcess {
  RowId process = 0;
  std::uint32_t scope = 0;  // row of scopes
  ScopeVisits visits{};
};

// The properties that an allocation was requested with. Allocations with equal properties share one
// row.
struct RecordedRequest {
  Kind kind = Kind::dram;
  std::uint8_t role = 0;  // ttmem_kernel_role of a kernel
  bool own_banks = false;
  bool estimate = false;
  bool has_bytes_per_bank = false;
  std::uint32_t banks = 0;  // number of banks that it takes; 0: unknown
  std::uint32_t cores =
      0;  // row of core_sets with the cores that hold its bytes; 0: all banks hold some
  std::uint32_t label = 0;  // row of texts; 0: none
  std::uint32_t scope = 0;  // row of scopes; 0: none
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;
  BufferLayout layout{};

  // Returns the bytes used on each device: physical if known.
  [[nodiscard]] std::uint64_t used_bytes() const {
    return has_bytes_per_bank && banks != 0 ? bytes_per_bank * banks : bytes;
  }
  // Returns true for a fabric or dispatch kernel, which stays loaded until its device is closed.
  [[nodiscard]] bool is_persistent() const { return kind == Kind::kernel && role != 0; }
  friend bool operator==(const RecordedRequest&, const RecordedRequest&) = default;
};

// The end of an allocation on some of its devices, while the other devices keep it.
struct PartialEnd {
  RowId devices = 0;  // set of the devices that dropped it
  RowId rest = 0;     // set of the devices that kept it
  Time end_ns = 0;
  Ending ending = Ending::freed;
};

// Returns true if the allocation or program was never freed, and ended with its device or process.
[[nodiscard]] constexpr bool was_left(Ending ending) {
  return ending == Ending::device_closed || ending == Ending::process_ended;
}

// A buffer or kernel on each device of a set, from its allocation to its end.
struct RecordedAllocation {
  RowId id = 0;
  RowId devices = 0;  // set of all its devices
  RowId request = 0;
  std::uint64_t number = 0;  // the id that the process uses for it
  std::optional<std::uint64_t> address{};
  Time begin_ns = 0;
  std::optional<Time> end_ns{};  // end on the devices that kept it longest
  Ending ending = Ending::none;
  std::vector<PartialEnd> partial_ends{};  // earlier ends on other devices, in the order of time

  // Returns the set of the devices that kept it longest.
  [[nodiscard]] RowId last_devices() const {
    return partial_ends.empty() ? devices : partial_ends.back().rest;
  }
};

struct RecordedCb {
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;  // on each core
  bool global = false;      // a view of an L1 buffer
  CoreMask cores{};

  friend bool operator==(const RecordedCb&, const RecordedCb&) = default;
};
// The circular buffers of a program. Programs with equal circular buffers share one layout.
using Layout = std::vector<RecordedCb>;

// A program on one device, from its placement to its end or to its next layout.
struct RecordedProgram {
  RowId id = 0;
  RowId device = 0;
  RowId layout = 0;          // 0: unknown, because the CBs were gone before they could be read
  std::uint64_t number = 0;  // the id that the process uses for it
  std::uint32_t name = 0;    // row of texts; 0: none
  std::uint32_t scope = 0;   // row of scopes; 0: none
  Time begin_ns = 0;
  std::optional<Time> end_ns{};
  Ending ending = Ending::none;
};

// The programs of a dispatch: one program, or all programs of a trace.
struct Launch {
  bool trace = false;
  std::vector<std::uint64_t> programs{};  // RecordedProgram::number

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

// An out-of-memory error (`ttmem_report_failure`).
struct RecordedFailure {
  Time time_ns = 0;
  RowId process = 0;
  std::string text{};  // the runtime's error message, one or more lines; empty: unknown
};

// A period in which events of a process were overwritten before they were read. The state after the
// gap is right.
struct Gap {
  RowId process = 0;
  Time begin_ns = 0;
  Time end_ns = 0;
  std::uint64_t lost_events = 0;
};

// The figures of one kind on a device at one moment.
struct RecordedSample {
  Time time_ns = 0;
  RowId device = 0;
  Kind kind = Kind::dram;
  std::uint64_t used_bytes = 0;
  std::uint64_t peak_bytes = 0;  // the process's own peak since it opened the device
};

}  // namespace ttmem::recording
