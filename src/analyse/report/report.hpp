// SPDX-License-Identifier: Apache-2.0
//
// What a recording comes down to: peaks, what they were made of, what was left. Plain values. An
// empty optional is unknown; a zero was measured.
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

// A figure at the moment when it was at its highest or lowest; of several such moments, the first.
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

// Allocations that have all of this in common. Of circular buffers, programs: what only they take.
// What programs of several names share is in one entry, with `shared`.
struct Holder {
  Kind kind = Kind::dram;
  std::string scope{};     // empty: none
  std::string label{};     // of programs: their name; empty: none
  std::string process{};   // its name
  std::uint64_t size = 0;  // of each on one device; 0: several, or circular buffers
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  bool shared = false;
  bool persistent = false;  // kernels that are there until the device is closed

  friend bool operator==(const Holder&, const Holder&) = default;
};

// One chip, all processes together.
struct DeviceReport {
  std::uint32_t id = 0;            // its number
  std::vector<std::uint32_t> ids;  // all numbers that processes give it
  std::uint64_t uid = 0;           // 0: unknown
  std::string arch;
  std::string board;
  Bytes dram_capacity;
  Bytes l1_capacity;
  Bytes trace_region;     // that was set up
  Bytes l1_small_region;  // the same, per core
  std::uint64_t dram_channels = 0;

  PerKind<std::optional<Extreme>> peak{};
  // What it held when it was closed for the last time, or when the recording ended.
  PerKind<Bytes> end{};
  std::optional<Extreme> l1_peak;  // L1 buffers, L1_SMALL, circular buffers and kernels together
  Bytes l1_end;
  PerKind<std::optional<Extreme>> least_largest_free{};  // per bank
  std::optional<Extreme> least_headroom;                 // per core
  // False if events of the chip were lost, or the recording has no events. Then the extremes are
  // those of the seen moments, and the peaks lie in these ranges, which use the peaks that
  // processes counted themselves.
  bool all_seen = true;
  bool cbs_seen = true;  // false: figures that include circular buffers are not exact
  PerKind<FigureRange> peak_range{};
  FigureRange l1_peak_range{};
  Bytes l1_small_peak_per_core;

  std::vector<Holder> at_dram_peak;  // the largest first, as in all lists
  std::vector<Holder> at_l1_peak;
  // What each process held when it closed the chip for the last time, when it ended, or when the
  // recording did.
  std::vector<Holder> held_at_end;
  bool held_at_once = true;  // false: processes had their ends one after another
  // What its owner should have freed before he closed it, also when it was opened again.
  std::uint64_t leak_bytes = 0;
  std::uint64_t leak_count = 0;
};

// Requests that were made again and again.
struct Churn {
  Kind kind = Kind::dram;
  std::string scope;
  std::string label;
  std::uint64_t size = 0;
  std::uint64_t allocations = 0;
};

// What grew steadily from mark to mark of one name (MarkGrowth), on all devices together. Of
// programs, kind cb: their number did.
struct Growth {
  Kind kind = Kind::dram;
  std::string scope;  // with '#' for numbers, when several names differ only in those
  std::string label;
  bool all_programs = false;  // the program cache of a process, whatever the names
  std::string process;        // its name
  std::int32_t pid = 0;
  std::string mark;  // "#" for numbers, as above
  std::uint64_t marks = 0;
  Bytes first_bytes;  // at the first mark after the warm-up; none: programs of one name
  Bytes last_bytes;   // at the last
  std::uint64_t first_count = 0;
  std::uint64_t last_count = 0;
  std::uint64_t grew = 0;  // from how many marks to the next
  // From how many marks to the next it could: `marks` without the warm-up.
  std::uint64_t steps = 0;

  // 0 also when they became fewer: programs share circular buffers, and may grow only in number.
  [[nodiscard]] std::uint64_t grown_bytes() const {
    const std::uint64_t first = first_bytes.value_or(0);
    const std::uint64_t last = last_bytes.value_or(0);
    return last > first ? last - first : 0;
  }
};
// By bytes; what has none by its number.
[[nodiscard]] inline bool grew_more(const Growth& a, const Growth& b) {
  if (a.grown_bytes() != b.grown_bytes()) return a.grown_bytes() > b.grown_bytes();
  return a.last_count - a.first_count > b.last_count - b.first_count;
}

// Memory did not suffice.
struct RunFailure {
  Time time_ns = 0;
  std::int32_t pid = 0;
  std::string process;  // its name
  std::string text;     // what the runtime said, in one line or more; empty: unknown
};

struct Report {
  std::string command;   // empty: it was attached to processes
  std::string source;    // "record", or what it was imported from
  std::string imported;  // JSON of the importer; empty: none
  std::vector<std::pair<std::string, Bytes>> imported_figures;  // those of them that are numbers
  Time duration_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t gaps = 0;
  std::map<std::string, std::uint64_t> not_tracked{};  // processes, by the reason
  bool complete = true;  // false: the recorder was killed, so the end is missing
  bool aggregate =
      false;  // peaks are those of the time line, and what they were made of is unknown
  std::uint64_t unknown_programs = 0;  // gone before their circular buffers were read
  std::uint64_t marks = 0;
  std::vector<RunFailure> failures;  // in the order of time
  std::vector<DeviceReport> devices;
  std::vector<Churn> churn;              // the most often first
  std::vector<Growth> growth;            // the most first
  std::vector<Holder> while_trace_live;  // allocations that were made then

  // Returns false if the recording lacks some processes, or the end of the run.
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
