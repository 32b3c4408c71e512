// SPDX-License-Identifier: Apache-2.0
// The summary of a recording: peaks, the contents at the peaks, and the memory that was left. The
// values are plain. An empty optional means that the value is unknown. A 0 is a known value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/kinds.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::report {

using recording::Time;
using Bytes = std::optional<std::uint64_t>;

// The highest or lowest value of a figure, and the first moment at which the figure had this value.
struct Extreme {
  std::int64_t bytes = 0;
  Time time_ns = 0;

  friend bool operator==(const Extreme&, const Extreme&) = default;
};

// The bounds of a figure that may not be known exactly. An empty bound is unknown.
struct FigureRange {
  std::optional<std::int64_t> least{};
  std::optional<std::int64_t> most{};

  [[nodiscard]] bool is_exact() const { return least && least == most; }

  friend bool operator==(const FigureRange&, const FigureRange&) = default;
};

// The sum of allocations that are equal in all properties below except `bytes` and `count`. For
// programs, `bytes` are the bytes that only programs of this name use. Bytes that programs of
// several names share are in one entry with `shared`.
struct Holder {
  Kind kind = Kind::dram;
  std::string scope{};     // empty: none
  std::string label{};     // name of programs; empty: none
  std::string process{};   // process name
  std::uint64_t size = 0;  // size of each allocation on a device; 0: several sizes, or CBs
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  bool shared = false;
  bool persistent = false;  // kernels that stay loaded until the device is closed

  friend bool operator==(const Holder&, const Holder&) = default;
};

// One chip, with all processes together.
struct DeviceReport {
  std::uint32_t id = 0;            // device number
  std::vector<std::uint32_t> ids;  // all numbers that processes use for the chip
  std::uint64_t uid = 0;           // 0: unknown
  std::string arch;
  std::string board;
  Bytes dram_capacity;
  Bytes l1_capacity;
  Bytes trace_region;     // size that was set
  Bytes l1_small_region;  // size that was set, per core
  std::uint64_t dram_channels = 0;

  PerKind<std::optional<Extreme>> peak{};
  // The bytes in use when the chip was closed for the last time, or when the recording ended.
  // Unknown if events were lost at that moment.
  PerKind<Bytes> end{};
  std::optional<Extreme> l1_peak;  // L1 buffers, L1_SMALL, circular buffers and kernels together
  Bytes l1_end;
  PerKind<std::optional<Extreme>> least_largest_free{};  // per bank
  std::optional<Extreme> least_headroom;                 // per core
  // False if events of the chip were lost, or if the recording is an aggregate, lacks processes or
  // lacks its end. The extremes then cover only the seen moments. The true peaks lie in
  // `peak_range` and `l1_peak_range`, which come from the peaks that the processes counted
  // themselves.
  bool all_seen = true;
  bool cbs_seen = true;  // false: figures that include circular buffers are not exact
  PerKind<FigureRange> peak_range{};
  FigureRange l1_peak_range{};
  Bytes l1_small_peak_per_core;

  std::vector<Holder> at_dram_peak;  // the largest first, as in all lists
  std::vector<Holder> at_l1_peak;
  // Memory of each process when the process closed the chip for the last time, when the process
  // ended, or when the recording ended.
  std::vector<Holder> held_at_end;
  bool held_at_once = true;  // false: the processes in `held_at_end` ended at different moments
  // False if a process closed the chip for the last time while events were lost: `held_at_end` is
  // then incomplete.
  bool held_is_known = true;
  // Allocations that were not freed before their process closed the chip or ended, or before the
  // recording ended. Summed over all openings of the chip.
  std::uint64_t leak_bytes = 0;
  std::uint64_t leak_count = 0;
};

// Requests that were made many times.
struct Churn {
  Kind kind = Kind::dram;
  std::string scope;
  std::string label;
  std::uint64_t size = 0;
  std::uint64_t allocations = 0;
};

// A group whose memory grew from mark to mark of one series (MarkGrowth), on all devices together.
// For programs (kind cb), the number of programs grew.
struct Growth {
  Kind kind = Kind::dram;
  std::string scope;  // "#" replaces numbers if the names differ only in numbers
  std::string label;
  bool all_programs = false;  // programs of all names in one process
  std::string process;        // process name
  std::int32_t pid = 0;
  std::string mark;  // "#" replaces numbers, as in `scope`
  std::uint64_t marks = 0;
  Bytes first_bytes;  // bytes at the first mark after the warm-up; nullopt: programs of one name
  Bytes last_bytes;   // bytes at the last mark
  std::uint64_t first_count = 0;
  std::uint64_t last_count = 0;
  std::uint64_t grew = 0;  // number of steps in which the group grew
  // Number of steps from mark to mark after the warm-up.
  std::uint64_t steps = 0;

  // Returns the growth in bytes. Returns 0 if only the number of programs grew.
  [[nodiscard]] std::uint64_t grown_bytes() const {
    const std::uint64_t first = first_bytes.value_or(0);
    const std::uint64_t last = last_bytes.value_or(0);
    return last > first ? last - first : 0;
  }
};
// Orders by the growth in bytes, then by the growth in number.
[[nodiscard]] inline bool grew_more(const Growth& a, const Growth& b) {
  if (a.grown_bytes() != b.grown_bytes()) return a.grown_bytes() > b.grown_bytes();
  return a.last_count - a.first_count > b.last_count - b.first_count;
}

// An out-of-memory error.
struct RunFailure {
  Time time_ns = 0;
  std::int32_t pid = 0;
  std::string process;  // process name
  std::string text;     // the runtime's error message, one or more lines; empty: unknown
};

struct Report {
  std::string command;   // empty: running processes were recorded
  std::string source;    // "record", or the source of an import
  std::string imported;  // JSON of the importer; empty: none
  std::vector<std::pair<std::string, Bytes>> imported_figures;  // the numbers in `imported`
  Time duration_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t gaps = 0;
  std::map<std::string, std::uint64_t> not_tracked{};  // number of processes by reason
  bool complete = true;  // false: the recorder was killed, so the end is missing
  // True if the recording has only a timeline: the contents at the peaks are unknown.
  bool aggregate = false;
  // Programs that were gone before their circular buffers were read.
  std::uint64_t unknown_programs = 0;
  std::uint64_t marks = 0;
  std::vector<RunFailure> failures;  // sorted by time
  std::vector<DeviceReport> devices;
  std::vector<Churn> churn;              // the most frequent first
  std::vector<Growth> growth;            // the largest growth first
  std::vector<Holder> while_trace_live;  // allocations that were made while a trace was live

  // Returns true if the recording has all processes and the end of the run.
  [[nodiscard]] bool is_whole() const { return complete && not_tracked.empty(); }
  // Returns true if everything between the begin and the end was seen.
  [[nodiscard]] bool all_seen() const { return gaps == 0 && lost_events == 0 && is_whole(); }
  [[nodiscard]] std::uint64_t leak_bytes() const {
    std::uint64_t sum = 0;
    for (const DeviceReport& device : devices) sum += device.leak_bytes;
    return sum;
  }
  [[nodiscard]] std::uint64_t leak_count() const {
    std::uint64_t sum = 0;
    for (const DeviceReport& device : devices) sum += device.leak_count;
    return sum;
  }
};

}  // namespace ttmem::report
