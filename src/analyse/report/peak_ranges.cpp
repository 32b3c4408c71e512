// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/peak_ranges.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "read/recording/file/sources.hpp"

namespace ttmem::report {
namespace {

using recording::Gap;
using recording::RecordedChip;
using recording::RowId;

// The maximum number of openings of a chip. The sum of the peaks of all openings, each at most
// kMaxBytes, then fits into 64 bits.
constexpr std::size_t kMaxOpenings = std::size_t{1} << 14;

constexpr std::array kL1Parts = {Kind::l1, Kind::l1_small, Kind::cb, Kind::kernel};

// The time for which a process had a device open, and the peaks that the process counted itself.
struct Opening {
  RowId process = 0;
  Time begin_ns = 0;
  Time end_ns = 0;
  bool is_known = false;  // the peaks are known
  // True if the peaks are only upper bounds: they may be from before the recording, or from another
  // opening.
  bool is_bound = false;
  PerKind<std::int64_t> peak{};
  std::optional<std::int64_t> l1_peak;
};

using GapsOf = std::map<RowId, std::vector<const Gap*>>;  // by process, in the order of their begin

GapsOf gaps_of(const Tables& tables) {
  GapsOf gaps;
  for (const Gap& gap : tables.gaps) gaps[gap.process].push_back(&gap);
  return gaps;
}

// Returns the gap of the process that contains `time`; null if there is none.
const Gap* gap_at(const GapsOf& gaps, RowId process, Time time) {
  const auto found = gaps.find(process);
  if (found == gaps.end()) return nullptr;
  const auto after = std::upper_bound(found->second.begin(), found->second.end(), time,
                                      [](Time at, const Gap* gap) { return at < gap->begin_ns; });
  if (after == found->second.begin()) return nullptr;
  const Gap* const gap = *std::prev(after);
  return time <= gap->end_ns ? gap : nullptr;
}

void raise_to(const Opening& other, Opening& opening) {
  for (const Kind kind : kDeviceKinds) {
    opening.peak[kind] = std::max(opening.peak[kind], other.peak[kind]);
  }
  opening.l1_peak = std::max(opening.l1_peak, other.l1_peak);
}

// Limits the peaks of openings without samples. A process keeps its highest peaks over all its
// openings of a device. So the peaks of an opening without samples are at most the highest known
// peaks of the process on this device.
void limit_unknown_peaks(const Tables& tables, std::vector<Opening>& openings) {
  std::map<std::pair<RowId, std::uint32_t>, Opening> highest;  // by process and device number
  const auto of_device = [&](std::size_t i) -> Opening& {
    return highest[{tables.devices[i].process, tables.devices[i].number}];
  };
  for (std::size_t i = 0; i < openings.size(); ++i) {
    if (!openings[i].is_known) continue;
    of_device(i).is_known = true;
    raise_to(openings[i], of_device(i));
  }
  for (std::size_t i = 0; i < openings.size(); ++i) {
    if (openings[i].is_known || !of_device(i).is_known) continue;
    openings[i].is_known = openings[i].is_bound = true;
    raise_to(of_device(i), openings[i]);
  }
}

// Returns the openings of all devices. A device that was opened or closed in a gap may have been
// open during the whole gap.
std::vector<Opening> openings_of(const Tables& tables, const GapsOf& gaps) {
  std::vector<Opening> openings;
  for (const recording::RecordedDevice& device : tables.devices) {
    Opening& opening = openings.emplace_back();
    opening.process = device.process;
    if (device.l1_peak_bytes) opening.l1_peak = static_cast<std::int64_t>(*device.l1_peak_bytes);
    opening.begin_ns = device.begin_ns;
    opening.end_ns = device.end_ns.value_or(std::numeric_limits<Time>::max());
    opening.is_bound = device.begin_ns < 0;
    if (const Gap* gap = gap_at(gaps, device.process, opening.begin_ns)) {
      opening.begin_ns = gap->begin_ns;
    }
    if (const Gap* gap = gap_at(gaps, device.process, opening.end_ns)) {
      opening.end_ns = gap->end_ns;
    }
  }
  for (const recording::RecordedSample& sample : tables.timeline) {
    Opening& opening = openings[static_cast<std::size_t>(sample.device - 1)];
    opening.is_known = true;
    opening.peak[sample.kind] =
        std::max(opening.peak[sample.kind],
                 static_cast<std::int64_t>(std::min(sample.peak_bytes, kMaxBytes)));
  }
  limit_unknown_peaks(tables, openings);
  return openings;
}

// Merges openings of one process that overlap, because a process has a chip open only once at a
// time. The result has the higher peaks.
std::vector<Opening> merged(std::vector<Opening> openings) {
  std::sort(openings.begin(), openings.end(), [](const Opening& a, const Opening& b) {
    return std::pair(a.process, a.begin_ns) < std::pair(b.process, b.begin_ns);
  });
  std::vector<Opening> result;
  for (const Opening& opening : openings) {
    const bool overlaps = !result.empty() && result.back().process == opening.process &&
                          opening.begin_ns < result.back().end_ns;
    if (!overlaps) {
      result.push_back(opening);
      continue;
    }
    result.back().end_ns = std::max(result.back().end_ns, opening.end_ns);
    raise_to(opening, result.back());
  }
  return result;
}

// Returns the largest sum of the peaks of openings that overlap in time.
template <typename PeakOf>
std::int64_t max_overlapping_sum(const std::vector<Opening>& openings, PeakOf peak_of) {
  std::vector<std::pair<Time, std::int64_t>> changes;
  for (const Opening& opening : openings) {
    changes.emplace_back(opening.begin_ns, peak_of(opening));
    changes.emplace_back(opening.end_ns, -peak_of(opening));
  }
  std::sort(changes.begin(), changes.end());  // ends before begins of the same moment
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

std::optional<std::int64_t> bytes_of(const std::optional<Extreme>& extreme) {
  return extreme ? std::optional(extreme->bytes) : std::nullopt;
}

// The openings of one chip.
struct ChipOpenings {
  std::vector<Opening> all;
  std::vector<Opening> merged;  // without overlaps of one process
  bool has_upper_bounds = false;
};

// Collects the openings of a chip. If `is_whole` is false, unknown processes may have used more, so
// there are no upper bounds.
ChipOpenings openings_of_chip(const std::vector<Opening>& openings, const RecordedChip& chip,
                              bool is_whole) {
  ChipOpenings of_chip;
  for (const RowId row : chip.rows) {
    of_chip.all.push_back(openings[static_cast<std::size_t>(row - 1)]);
  }
  of_chip.merged = merged(of_chip.all);
  of_chip.has_upper_bounds = is_whole && chip.rows.size() <= kMaxOpenings &&
                             std::all_of(of_chip.all.begin(), of_chip.all.end(),
                                         [](const Opening& opening) { return opening.is_known; });
  return of_chip;
}

void set_range(const ChipOpenings& openings, Kind kind, DeviceReport& device) {
  FigureRange& range = device.peak_range[kind];
  range.least = bytes_of(device.peak[kind]);
  for (const Opening& opening : openings.all) {
    if (opening.is_bound || opening.peak[kind] == 0) continue;
    range.least = std::max(range.least.value_or(0), opening.peak[kind]);
  }
  if (!range.least || !openings.has_upper_bounds) return;
  const auto peak_of = [&](const Opening& opening) { return opening.peak[kind]; };
  range.most = std::max(*range.least, max_overlapping_sum(openings.merged, peak_of));
}

// Sets the bounds of L1. Must be called after set_range() for the kinds in L1.
void set_l1_range(const ChipOpenings& openings, DeviceReport& device) {
  FigureRange& l1 = device.l1_peak_range;
  l1.least = bytes_of(device.l1_peak);
  std::int64_t most = 0;
  for (const Kind kind : kL1Parts) {
    const FigureRange& part = device.peak_range[kind];
    if (part.least) l1.least = std::max(l1.least.value_or(0), *part.least);
    most += part.most.value_or(0);
  }
  bool is_counted = true;  // by each process
  for (const Opening& opening : openings.all) {
    is_counted = is_counted && opening.l1_peak;
    if (opening.l1_peak && !opening.is_bound) l1.least = std::max(l1.least, opening.l1_peak);
  }
  if (!l1.least || !openings.has_upper_bounds) return;
  if (is_counted) {
    const auto peak_of = [](const Opening& opening) { return *opening.l1_peak; };
    most = std::min(most, max_overlapping_sum(openings.merged, peak_of));
  }
  l1.most = std::max(*l1.least, most);
}

// Sets only lower bounds, because the peaks between two samples are unknown.
void set_ranges_of_samples(DeviceReport& device) {
  for (const Kind kind : kDeviceKinds) {
    device.peak_range[kind].least = bytes_of(device.peak[kind]);
  }
  device.l1_peak_range.least = bytes_of(device.l1_peak);
}

std::optional<FigureRange> range_of(const std::optional<Extreme>& seen, const FigureRange& range,
                                    bool exact) {
  if (exact && seen) return FigureRange{seen->bytes, seen->bytes};
  return exact || !range.least ? std::nullopt : std::optional(range);
}

}  // namespace

void set_peak_ranges(const Tables& tables, const Chips& chips, Report& report) {
  const GapsOf gaps = gaps_of(tables);
  const auto events_in_gaps =
      std::accumulate(tables.gaps.begin(), tables.gaps.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Gap& gap) { return sum + gap.lost_events; });
  // True if events were lost outside of all gaps. A process lost them at its end, and it is unknown
  // which process.
  const bool lost_elsewhere = report.lost_events > events_in_gaps;
  const std::vector<Opening> openings = openings_of(tables, gaps);
  for (std::size_t i = 0; i < chips.chips.size(); ++i) {
    DeviceReport& device = report.devices[i];
    const RecordedChip& chip = chips.chips[i];
    const bool has_gap = std::any_of(chip.rows.begin(), chip.rows.end(), [&](RowId row) {
      return gaps.contains(tables.device(row).process);
    });
    device.all_seen = !report.aggregate && !lost_elsewhere && !has_gap && report.is_whole();
    device.cbs_seen = report.unknown_programs == 0;
    if (device.all_seen && device.cbs_seen) continue;
    if (report.source == recording::kLooks) {
      set_ranges_of_samples(device);
      continue;
    }
    const ChipOpenings of_chip = openings_of_chip(openings, chip, report.is_whole());
    for (const Kind kind : kDeviceKinds) set_range(of_chip, kind, device);
    set_l1_range(of_chip, device);
  }
}

std::optional<FigureRange> peak_range_of(const DeviceReport& device, Kind kind) {
  const bool exact = device.all_seen && (kind != Kind::cb || device.cbs_seen);
  return range_of(device.peak[kind], device.peak_range[kind], exact);
}

std::optional<FigureRange> l1_peak_range_of(const DeviceReport& device) {
  return range_of(device.l1_peak, device.l1_peak_range, device.all_seen && device.cbs_seen);
}

}  // namespace ttmem::report
