// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/make_report.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyse/report/chip_report.hpp"
#include "analyse/report/holders.hpp"
#include "analyse/report/imported.hpp"
#include "analyse/report/peak_contents.hpp"
#include "analyse/report/peak_ranges.hpp"
#include "analyse/report/sampled_peaks.hpp"
#include "analyse/report/story_figures.hpp"
#include "base/safe_text.hpp"
#include "read/recording/file/chips.hpp"

namespace ttmem::report {
namespace {

using recording::Event;
using recording::Reader;

constexpr std::array kL1Allocations = {Kind::l1, Kind::l1_small, Kind::kernel, Kind::cb};

void append(std::vector<Holder>& to, const std::vector<Holder>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Adds leaks. Skips system kernels, which stay loaded until the device is closed. `left` must not
// contain programs: the program cache keeps them until the device is closed, so they are not leaks.
void add_leaks(const std::vector<Holder>& left, DeviceReport& device) {
  for (const Holder& holder : left) {
    if (holder.persistent) continue;
    device.leak_bytes += holder.bytes;
    device.leak_count += holder.count;
  }
}

// Returns the memory that was still held when the selected openings of a chip, or the recording,
// ended.
std::vector<Holder> held(const Tables& tables, const Chips& chips, std::uint32_t chip,
                         StoryFigures& story, Openings openings) {
  std::vector<Holder> holders;
  for (const LiveCounts* live : {&story.live(), &story.left()}) {
    append(holders, allocation_holders(tables, chips, chip, *live, kDeviceKinds, openings));
  }
  for (const RowId row : chips.chips[chip].rows) {
    ledger::DeviceLedger* const ledger = story.programs().ledger_left(row);
    if (ledger != nullptr && counts(chips, row, openings)) {
      append(holders, program_holders(tables, row, *ledger, story.programs()));
    }
  }
  return holders;
}

using GapBegins = std::set<std::pair<RowId, Time>>;  // by process

GapBegins gap_begins(const Tables& tables) {
  GapBegins begins;
  for (const recording::Gap& gap : tables.gaps) begins.emplace(gap.process, gap.begin_ns);
  return begins;
}

// Returns true if the device was closed in a gap. Its row ends one nanosecond after the begin of
// the gap.
bool was_closed_in_gap(const Tables& tables, RowId row, const GapBegins& gaps) {
  const recording::RecordedDevice& device = tables.device(row);
  return device.end_ns && gaps.contains({device.process, *device.end_ns - 1});
}

void set_end(const Tables& tables, const Chips& chips, std::uint32_t chip, StoryFigures& story,
             const GapBegins& gaps, DeviceReport& device) {
  device.held_at_end = held(tables, chips, chip, story, Openings::last);
  for (const LiveCounts* live : {&story.live(), &story.left()}) {
    add_leaks(allocation_holders(tables, chips, chip, *live, kDeviceKinds), device);
  }
  bool end_is_known = true;
  for (const RowId row : chips.chips[chip].rows) {
    if (!counts(chips, row, Openings::last)) continue;
    const bool is_at_end = counts(chips, row, Openings::at_end);
    device.held_at_once = device.held_at_once && is_at_end;
    if (!was_closed_in_gap(tables, row, gaps)) continue;
    device.held_is_known = false;
    end_is_known = end_is_known && !is_at_end;
  }
  if (!end_is_known) return;
  for (const Kind kind : kDeviceKinds) {
    if (device.peak[kind]) device.end[kind] = 0;
  }
  const std::vector<Holder> at_end =
      device.held_at_once ? device.held_at_end : held(tables, chips, chip, story, Openings::at_end);
  for (const Holder& holder : at_end) {
    if (device.end[holder.kind]) *device.end[holder.kind] += holder.bytes;
  }
  if (!device.l1_peak) return;
  device.l1_end = 0;
  for (const Kind kind : kL1Allocations) *device.l1_end += device.end[kind].value_or(0);
}

Report about(const Reader& reader) {
  const recording::Run& run = reader.tables().run;
  Report report;
  report.command = safe_text(run.command);
  report.source = safe_text(run.source);
  report.imported = run.imported;
  report.imported_figures = imported_figures(run.imported);
  report.duration_ns = reader.end_ns();
  report.events = run.events;
  report.lost_events = run.lost_events;
  report.gaps = reader.tables().gaps.size();
  report.not_tracked = run.not_tracked;
  report.complete = run.ended_ns.has_value();
  report.aggregate = run.aggregate;
  for (const recording::RecordedFailure& failure : reader.tables().failures) {
    const recording::RecordedProcess& process = reader.tables().process(failure.process);
    report.failures.push_back({.time_ns = failure.time_ns,
                               .pid = process.pid,
                               .process = safe_text(process.name),
                               .text = safe_lines(failure.text)});
  }
  return report;
}

void add_history(const Tables& tables, const StoryFigures& story, Report& report) {
  const RequestHistory& requests = story.requests();
  report.marks = tables.marks.size();
  report.churn = requests.churn();
  report.growth = story.growth().growth();
  // Removes growth without bytes. The number of programs can grow while their bytes stay equal.
  std::erase_if(report.growth, [](const Growth& growth) { return growth.grown_bytes() == 0; });
  report.while_trace_live = requests.while_trace_live();
  report.unknown_programs = story.unknown_programs();
}

}  // namespace

Result<Report> make_report(Reader& reader, const std::function<void(double)>& progress) {
  const Tables& tables = reader.tables();
  const Chips chips = find_chips(tables);
  Report report = about(reader);
  StoryFigures story(tables, chips);
  constexpr double kFirstPass = 0.8;  // part of the progress that the first pass makes
  if (progress) reader.set_progress([&](double part) { progress(part * kFirstPass); });
  std::uint64_t events = 0;
  auto told = reader.for_each_event(
      [&](const Event& event) {
        story.apply(event);
        ++events;
        return true;
      },
      recording::Telling::without_dispatches);
  story.finish();
  // A recorder that was killed has not written the number of events. The report then has the number
  // of events that were read.
  if (report.events == 0) report.events = events;
  for (const RecordedChip& chip : chips.chips) report.devices.push_back(describe(tables, chip));
  PeakContents peaks(tables, chips, report.devices);
  for (std::uint32_t i = 0; i < chips.chips.size(); ++i) {
    if (!report.aggregate) {
      set_extremes(story.chip(i), report.devices[i]);
      peaks.add_chip(i, story.chip(i));
    }
  }
  if (report.aggregate) set_sampled_peaks(tables, chips, report.devices);
  HolderRoom room;
  const GapBegins gaps = gap_begins(tables);
  for (std::uint32_t i = 0; i < chips.chips.size(); ++i) {
    set_end(tables, chips, i, story, gaps, report.devices[i]);
    if (!room.take(report.devices[i].held_at_end)) return too_many_holders(reader.path());
  }
  if (!report.aggregate) add_history(tables, story, report);
  set_peak_ranges(tables, chips, report);
  if (told) told = peaks.read(reader, room);
  reader.set_progress({});
  if (progress) progress(1);
  if (!told) return told.error();
  return report;
}

}  // namespace ttmem::report
