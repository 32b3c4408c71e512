// SPDX-License-Identifier: Apache-2.0
#include "show/exports/ttnn_plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "show/exports/thinning.hpp"
#include "show/exports/usage.hpp"

namespace ttmem::exports {

using recording::Event;
using recording::RecordedAllocation;
using recording::RowId;
using recording::Tables;
using recording::Time;

namespace {

// The maximum numbers of operations and of buffer rows in a report. The viewer is too slow for
// more.
constexpr std::size_t kMaxOperations = 2000;
constexpr std::uint64_t kMaxRows = 2'000'000;

// The events that may become operations: dispatches or placements.
struct Candidates {
  std::uint64_t count = 0;
  std::uint64_t rows = 0;  // buffer rows that all these operations would have
  bool now = false;        // true if an event happened at the current moment
  LocalPeaks peaks{kMaxOperations};

  void add(std::uint64_t live) {
    ++count;
    rows += live;
    now = true;
  }
  void end_moment(std::uint64_t l1_bytes, Time time) {
    if (std::exchange(now, false)) peaks.add({l1_bytes, time});
  }
  // Returns the times of the events to keep, or nullopt if all events are kept.
  std::optional<std::set<Time>> chosen() {
    if (count <= kMaxOperations && rows <= kMaxRows) return std::nullopt;
    peaks.finish();
    const std::uint64_t rows_each = rows / count + 1;
    while (peaks.peaks().size() > 1 && peaks.peaks().size() * rows_each > kMaxRows) peaks.halve();
    std::set<Time> times;
    for (const Peak& peak : peaks.peaks()) times.insert(peak.time_ns);
    return times;
  }
};

class Planner {
 public:
  explicit Planner(const ExportJob& job)
      : tables_(job.reader.tables()), selection_(job.selection), usage_(tables_, selection_) {}

  Result<TtnnPlan> plan(const recording::Reader& reader) {
    const auto passed = for_each_moment(
        reader, usage_, [&](Time time, const std::vector<std::size_t>&) { end_moment(time); },
        [&](const Event& event) { count(event); });
    if (!passed) return passed.error();
    const bool placements = dispatches_.count == 0;
    Candidates& used = placements ? placements_ : dispatches_;
    return TtnnPlan{placements, used.count, used.chosen(), without_place_};
  }

 private:
  void count(const Event& event) {
    const bool begins = event.type == Event::Type::allocate;
    if (begins || event.type == Event::Type::free) {
      count(*event.allocation, begins);
    } else if (event.type == Event::Type::place && selection_.has(event.program->device)) {
      placements_.add(live_);
    } else if (event.type == Event::Type::dispatch &&
               is_selected(tables_, selection_, event.dispatch->devices)) {
      dispatches_.add(live_);
    }
  }

  void count(const RecordedAllocation& allocation, bool begins) {
    const recording::RecordedRequest& request = tables_.request(allocation.request);
    if (!selection_.has(request.kind)) return;
    for (const RowId device : tables_.device_set(allocation.devices)) {
      if (!selection_.has(device)) continue;
      if (!has_place(allocation, request)) {
        without_place_ += begins ? 1 : 0;
      } else {
        live_ = begins ? live_ + 1 : live_ - 1;
      }
    }
  }

  void end_moment(Time time) {
    if (!dispatches_.now && !placements_.now) return;
    std::uint64_t bytes = 0;
    for (const ExportedChip& chip : selection_.chips())
      bytes += usage_.used_bytes(chip, Memory::l1);
    dispatches_.end_moment(bytes, time);
    placements_.end_moment(bytes, time);
  }

  const Tables& tables_;
  const Selection& selection_;
  Usage usage_;
  Candidates dispatches_;
  Candidates placements_;
  std::uint64_t live_ = 0;  // live buffers on all devices
  std::uint64_t without_place_ = 0;
};

}  // namespace

bool has_place(const RecordedAllocation& allocation, const recording::RecordedRequest& request) {
  return allocation.address && request.has_bytes_per_bank && request.kind != Kind::cb &&
         request.kind != Kind::kernel && request.kind != Kind::system;
}

bool is_selected(const Tables& tables, const Selection& selection, RowId set) {
  const auto& devices = tables.device_set(set);
  return std::any_of(devices.begin(), devices.end(),
                     [&](RowId device) { return selection.has(device); });
}

Result<TtnnPlan> plan_operations(const ExportJob& job) { return Planner(job).plan(job.reader); }

}  // namespace ttmem::exports
