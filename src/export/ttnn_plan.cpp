// SPDX-License-Identifier: Apache-2.0
#include "export/ttnn_plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "export/thinning.hpp"
#include "export/usage.hpp"

namespace ttmem::exporter {

using recording::Allocation;
using recording::Event;
using recording::RowId;
using recording::Tables;
using recording::Time;

namespace {

// More than this takes the viewer too long.
constexpr std::size_t kMostOperations = 2000;
constexpr std::uint64_t kMostRows = 2'000'000;

class Planner {
 public:
  explicit Planner(const Job& job)
      : tables_(job.reader.tables()), selection_(job.selection), usage_(tables_, selection_) {}

  Result<TtnnPlan> plan(const recording::Reader& reader) {
    const auto passed = for_each_moment(
        reader, usage_, [&](Time time, const std::vector<std::size_t>&) { end_moment(time); },
        [&](const Event& event) { count(event); });
    if (!passed) return passed.error();
    if (plan_.dispatches > kMostOperations || rows_ > kMostRows) choose();
    return std::move(plan_);
  }

 private:
  void count(const Event& event) {
    const bool begins = event.type == Event::Type::allocate;
    if (begins || event.type == Event::Type::free) {
      count(*event.allocation, begins);
    } else if (event.type == Event::Type::dispatch &&
               is_selected(tables_, selection_, event.dispatch->devices)) {
      ++plan_.dispatches;
      rows_ += live_;
      dispatched_ = true;
    }
  }

  void count(const Allocation& allocation, bool begins) {
    const recording::Request& request = tables_.request(allocation.request);
    if (!selection_.has(request.kind)) return;
    for (const RowId device : tables_.device_set(allocation.devices)) {
      if (!selection_.has(device)) continue;
      if (!has_place(allocation, request)) {
        plan_.without_place += begins ? 1 : 0;
      } else {
        live_ = begins ? live_ + 1 : live_ - 1;
      }
    }
  }

  void end_moment(Time time) {
    if (!std::exchange(dispatched_, false)) return;
    std::uint64_t bytes = 0;
    for (const Chip& chip : selection_.chips()) bytes += usage_.used_bytes(chip, Memory::l1);
    peaks_.add({bytes, time});
  }

  void choose() {
    peaks_.finish();
    const std::uint64_t rows_each = rows_ / plan_.dispatches + 1;
    while (peaks_.peaks().size() > 1 && peaks_.peaks().size() * rows_each > kMostRows) {
      peaks_.halve();
    }
    plan_.chosen.emplace();
    for (const Peak& peak : peaks_.peaks()) plan_.chosen->insert(peak.time_ns);
  }

  const Tables& tables_;
  const Selection& selection_;
  Usage usage_;
  LocalPeaks peaks_{kMostOperations};
  TtnnPlan plan_;
  std::uint64_t live_ = 0;  // buffers, on all devices
  std::uint64_t rows_ = 0;  // that all dispatches would have
  bool dispatched_ = false;
};

}  // namespace

bool has_place(const Allocation& allocation, const recording::Request& request) {
  return allocation.address && request.has_bytes_per_bank && request.kind != Kind::cb &&
         request.kind != Kind::kernel && request.kind != Kind::system;
}

bool is_selected(const Tables& tables, const Selection& selection, RowId set) {
  const auto& devices = tables.device_set(set);
  return std::any_of(devices.begin(), devices.end(),
                     [&](RowId device) { return selection.has(device); });
}

Result<TtnnPlan> plan_operations(const Job& job) { return Planner(job).plan(job.reader); }

}  // namespace ttmem::exporter
