// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/find_moment.hpp"

#include <algorithm>
#include <vector>

#include "analyse/report/shared_places.hpp"
#include "read/collector/free_space.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {
namespace {

using recording::Event;
using recording::RecordedAllocation;
using recording::RecordedProgram;
using recording::RowId;
using recording::Tables;
using recording::Time;

// Returns the highest end of the circular buffers of a layout, like explain::cb_end_of().
std::uint64_t cb_end_of(const recording::Layout& layout) {
  std::uint64_t end = 0;
  for (const recording::RecordedCb& cb : layout) {
    if (!cb.global) end = std::max(end, std::uint64_t{cb.address} + cb.bytes);
  }
  return end;
}

// Follows the buffers and programs of every device row. A device row is one process on one device.
// After all events of one time, compares the rows that changed with the figures.
class MomentSearch {
 public:
  MomentSearch(const Tables& tables, const MomentFigures& figures, std::optional<std::int32_t> pid)
      : tables_(tables), figures_(figures), places_(tables.devices.size()) {
    rows_of_set_.reserve(tables.device_sets.size());
    for (const std::vector<RowId>& set : tables.device_sets) {
      std::vector<std::uint32_t>& rows = rows_of_set_.emplace_back();
      for (const RowId device : set) rows.push_back(index_of(device));
    }
    for (const recording::RecordedDevice& device : tables.devices) {
      is_asked_for_.push_back(!pid || tables.process(device.process).pid == *pid);
    }
    for (const recording::Layout& layout : tables.layouts) {
      has_cb_end_.push_back(figures.cb_end == cb_end_of(layout));
    }
    programs_.resize(tables.devices.size());
  }

  void apply(const Event& event) {
    if (event.time_ns != now_) compare_changed();
    now_ = event.time_ns;
    switch (event.type) {
      case Event::Type::device_open:
        return open(*event.device);
      case Event::Type::allocate:
        return change(*event.allocation, true);
      case Event::Type::free:
        return change(*event.allocation, false);
      case Event::Type::place:
        return change(*event.program, true);
      case Event::Type::remove:
        return change(*event.program, false);
      default:
        return;
    }
  }

  std::optional<Time> finish() {
    compare_changed();
    return found_;
  }

 private:
  static std::uint32_t index_of(RowId device) { return static_cast<std::uint32_t>(device - 1); }

  void open(const recording::RecordedDevice& device) {
    places_.set_regions(index_of(device.id),
                        collector::regions_of(device.arch, collector::bank_facts(device)));
    changed_.push_back(index_of(device.id));
  }

  void change(const RecordedAllocation& allocation, bool add) {
    const recording::RecordedRequest& request = tables_.request(allocation.request);
    if (request.kind > Kind::trace) return;  // the other kinds lie in no bank
    const std::vector<std::uint32_t>& rows =
        rows_of_set_[static_cast<std::size_t>(allocation.devices - 1)];
    const bool has_cores = request.own_banks && request.cores != 0;
    places_.change(rows, request, allocation.address,
                   has_cores ? &tables_.core_set(request.cores) : nullptr, add);
    changed_.insert(changed_.end(), rows.begin(), rows.end());
  }

  void change(const RecordedProgram& program, bool add) {
    if (program.layout == 0 || !has_cb_end_[static_cast<std::size_t>(program.layout - 1)]) return;
    std::uint64_t& count = programs_[index_of(program.device)];
    count = add ? count + 1 : count - 1;
    changed_.push_back(index_of(program.device));
  }

  [[nodiscard]] bool has_figures(std::uint32_t row) const {
    const BufferPlaces& places = places_.of(row);
    const auto is = [](const auto& wanted, const auto& here) { return !wanted || wanted == here; };
    return is_asked_for_[row] && (!figures_.cb_end || programs_[row] > 0) &&
           is(figures_.lowest_l1, places.lowest_l1().on_every_core()) &&
           is(figures_.free_per_bank, places.free_bytes(figures_.kind)) &&
           is(figures_.largest_free_per_bank, places.largest_free(figures_.kind));
  }

  void compare_changed() {
    const bool is_found = std::any_of(changed_.begin(), changed_.end(),
                                      [&](std::uint32_t row) { return has_figures(row); });
    if (is_found) found_ = now_;
    changed_.clear();
  }

  const Tables& tables_;
  const MomentFigures& figures_;
  SharedPlaces places_;                                  // by device row
  std::vector<std::vector<std::uint32_t>> rows_of_set_;  // by set of devices
  std::vector<bool> is_asked_for_;                       // by device row
  std::vector<bool> has_cb_end_;                         // by layout
  std::vector<std::uint64_t> programs_;  // by device row: placed programs that end at the cb_end
  std::vector<std::uint32_t> changed_;   // device rows that changed at `now_`
  Time now_ = 0;
  std::optional<Time> found_;
};

}  // namespace

Result<std::optional<Time>> last_moment_with(const MomentFigures& figures,
                                             std::optional<std::int32_t> pid,
                                             recording::Reader& reader,
                                             const std::function<void(double)>& progress) {
  MomentSearch search(reader.tables(), figures, pid);
  reader.set_progress(progress);
  const auto told = reader.for_each_event(
      [&](const Event& event) {
        search.apply(event);
        return true;
      },
      recording::Telling::without_dispatches);
  reader.set_progress({});
  if (!told) return told.error();
  return search.finish();
}

}  // namespace ttmem::report
