// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/recorded_leaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyse/leaks/leak_sums.hpp"
#include "analyse/leaks/recorded_scopes.hpp"
#include "analyse/report/holders.hpp"
#include "analyse/report/mark_growth.hpp"
#include "analyse/report/row_programs.hpp"
#include "base/plural.hpp"
#include "base/safe_text.hpp"

namespace ttmem::leaks {
namespace {

using recording::Ending;
using recording::Event;
using recording::Reader;
using recording::RecordedAllocation;
using recording::RecordedDevice;
using recording::RecordedProgram;
using recording::RowId;
using recording::Tables;

bool has_name(const RecordedDevice& device, const model::DeviceName& name) {
  if (!name.bus_id.empty()) return false;  // a recording has no bus ids
  return name.uid ? device.uid == *name.uid : device.number == name.number;
}

// Returns one value for each device: true if the filter selects the device.
std::vector<bool> devices_of(const Tables& tables, const Filter& filter) {
  std::vector<bool> counts;
  for (const RecordedDevice& device : tables.devices) {
    const bool named = filter.devices.empty() ||
                       std::any_of(filter.devices.begin(), filter.devices.end(),
                                   [&](const auto& name) { return has_name(device, name); });
    counts.push_back(named && (!filter.pid || tables.process(device.process).pid == *filter.pid));
  }
  return counts;
}

// Collects the memory that processes left behind when they ended or closed a device. Gets the rows
// one by one.
class Left {
 public:
  Left(const Tables& tables, const Filter& filter)
      : tables_(tables), filter_(filter), counts_(devices_of(tables, filter)), programs_(tables) {}

  void add(const RecordedAllocation& allocation) {
    const recording::RecordedRequest& request = tables_.request(allocation.request);
    if (request.is_persistent() || !filter_.takes(request.kind)) return;
    for (const RowId row : left_on(tables_, allocation)) {
      if (!counts_[index(row)]) continue;
      Leak leak = of_device(tables_.device(row), request.used_bytes());
      leak.kind = request.kind;
      leak.scope = safe_text(tables_.scope(request.scope));
      leak.label = safe_text(tables_.text(request.label));
      leak.count = 1;
      leak.begin_ns = allocation.begin_ns;
      if (ended_with_process(row, allocation)) {
        leak.killed = tables_.process(tables_.device(row).process).killed;
        dead_.add(process_of(row), leak);
      } else {
        closed_.add(process_of(row), leak);
      }
    }
  }

  // Adds the program if its process ended without a clean exit.
  void add(const RecordedProgram& program) {
    const RowId row = program.device;
    const recording::RecordedProcess& process = tables_.process(tables_.device(row).process);
    const bool left = program.ending == Ending::process_ended && process.killed != false;
    if (left && counts_[index(row)] && filter_.takes(Kind::cb)) programs_.place(program);
  }

  void finish(Leaks& leaks) {
    for (const RecordedDevice& device : tables_.devices) add_programs(device);
    leaks.dead_process = dead_.take();
    leaks.closed_device = closed_.take();
  }

 private:
  static std::size_t index(RowId row) { return static_cast<std::size_t>(row - 1); }
  [[nodiscard]] std::uint64_t process_of(RowId device) const {
    return static_cast<std::uint64_t>(tables_.device(device).process);
  }

  [[nodiscard]] Leak of_device(const RecordedDevice& device, std::uint64_t bytes) const {
    const recording::RecordedProcess& process = tables_.process(device.process);
    Leak leak;
    leak.process = safe_text(process.name);
    leak.pid = process.pid;
    leak.bytes_on.add(device.number, bytes);
    return leak;
  }

  // Returns true if the allocation was still on the device when its process ended. In recordings of
  // older versions, the row of such a mesh buffer may end as `changed`.
  [[nodiscard]] bool ended_with_process(RowId row, const RecordedAllocation& allocation) const {
    const recording::EndOnDevice end = end_on(tables_, allocation, row);
    if (end.ending != Ending::changed) return end.ending == Ending::process_ended;
    return tables_.process(tables_.device(row).process).end_ns == end.end_ns;
  }

  void add_programs(const RecordedDevice& device) {
    ledger::DeviceLedger* const ledger = programs_.ledger(device.id);
    if (ledger == nullptr) return;
    for (const report::Holder& holder :
         report::program_holders(tables_, device.id, *ledger, programs_)) {
      Leak leak = of_device(device, holder.bytes);
      leak.kind = Kind::cb;
      leak.scope = holder.scope;
      leak.label = holder.label;
      leak.count = holder.count;
      leak.shared = holder.shared;
      leak.killed = tables_.process(device.process).killed;
      dead_.add(process_of(device.id), leak);
    }
  }

  const Tables& tables_;
  const Filter& filter_;
  std::vector<bool> counts_;
  report::RowPrograms programs_;
  LeakSums dead_;
  LeakSums closed_;
};

// Applies one event of the recording to the search for growth.
void apply(const Event& event, report::RowPrograms& programs, report::MarkGrowth& growth) {
  switch (event.type) {
    case Event::Type::allocate:
      return growth.allocate(*event.allocation);
    case Event::Type::free:
      return growth.free(*event.allocation);
    case Event::Type::place:
      programs.place(*event.program);
      return growth.place(*event.program);
    case Event::Type::remove:
      programs.remove(*event.program);
      return growth.remove(*event.program);
    case Event::Type::mark:
      programs.settle([](const auto&) {});
      return growth.mark(*event.mark, [&](RowId device) { return programs.bytes(device); });
    default:
      return;
  }
}

Result<void> find_growth(const Reader& reader, const Filter& filter, Leaks& leaks) {
  const Tables& tables = reader.tables();
  report::MarkGrowth growth(tables, devices_of(tables, filter));
  if (growth.is_idle()) {
    leaks.unknown.push_back(
        "what grows is not known: no name was marked three times (call ttmem_mark in each "
        "iteration)");
    return {};
  }
  report::RowPrograms programs(tables);
  auto told = reader.for_each_event(
      [&](const Event& event) {
        apply(event, programs, growth);
        return true;
      },
      recording::Telling::without_dispatches);
  leaks.growth = growth.growth();
  std::erase_if(leaks.growth, [&](const auto& found) { return !filter.takes(found.kind); });
  leaks.looked_at.push_back("what grew from mark to mark");
  return told;
}

void say_unknown(const Tables& tables, Leaks& leaks) {
  const auto say = [&](std::string text) { leaks.unknown.push_back(std::move(text)); };
  const bool is_whole =
      tables.run.lost_events == 0 && tables.run.ended_ns && tables.run.not_tracked.empty();
  if (!is_whole) leaks.saw = Leaks::Saw::some;
  if (tables.run.lost_events > 0) {
    say(fmt::format("{} lost: what ended there without being freed is not in these lists",
                    plural(tables.run.lost_events, "event was", "events were")));
  }
  for (const auto& [reason, processes] : tables.run.not_tracked) {
    say(fmt::format("{} not tracked: {}", plural(processes, "process was", "processes were"),
                    reason));
  }
  if (!tables.run.ended_ns) say("the recorder was killed, or could not write: the end is missing");
  const auto running = static_cast<std::uint64_t>(
      std::count_if(tables.processes.begin(), tables.processes.end(),
                    [](const recording::RecordedProcess& process) { return !process.end_ns; }));
  if (running > 0) {
    say(fmt::format("{} still running when the recording ended, and may yet free what {}",
                    plural(running, "process was", "processes were"),
                    running == 1 ? "it holds" : "they hold"));
  }
}

}  // namespace

std::vector<model::DeviceName> missing_devices(const Tables& tables, const Filter& filter) {
  std::vector<model::DeviceName> missing;
  for (const model::DeviceName& name : filter.devices) {
    const bool there =
        std::any_of(tables.devices.begin(), tables.devices.end(),
                    [&](const RecordedDevice& device) { return has_name(device, name); });
    if (!there) missing.push_back(name);
  }
  return missing;
}

Result<Leaks> recorded_leaks(Reader& reader, const Filter& filter,
                             const std::function<void(double)>& progress) {
  const Tables& tables = reader.tables();
  Leaks leaks;
  Left left(tables, filter);
  RecordedScopes scopes(tables, filter, devices_of(tables, filter));
  const auto add = [&](const auto& row) {
    left.add(row);
    scopes.add(row);
  };
  auto read = reader.for_each_allocation([&](const RecordedAllocation& row) { add(row); });
  if (read) read = reader.for_each_program([&](const RecordedProgram& row) { add(row); });
  if (!read) return read.error();
  left.finish(leaks);
  leaks.looked_at = {"what processes held when they ended", "what was left on closed devices"};
  scopes.finish(leaks);
  say_unknown(tables, leaks);
  if (tables.run.aggregate) {
    leaks.unknown.emplace_back("recorded with --aggregate: what grows is not known");
  } else {
    reader.set_progress(progress);
    read = find_growth(reader, filter, leaks);
    reader.set_progress({});
  }
  if (progress) progress(1);
  if (!read) return read.error();
  return leaks;
}

}  // namespace ttmem::leaks
