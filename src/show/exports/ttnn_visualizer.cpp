// SPDX-License-Identifier: Apache-2.0
//
// A report for ttnn-visualizer. Each dispatch is an operation. If no dispatch was recorded, each
// placement is an operation. An operation has all live buffers, and the circular buffers of its
// programs. Each peak is an operation too.
#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/plural.hpp"
#include "show/exports/format.hpp"
#include "show/exports/stacks.hpp"
#include "show/exports/ttnn_cluster.hpp"
#include "show/exports/ttnn_core_rows.hpp"
#include "show/exports/ttnn_graph.hpp"
#include "show/exports/ttnn_plan.hpp"
#include "show/exports/ttnn_report.hpp"
#include "show/exports/usage.hpp"

namespace ttmem::exports {

using recording::Event;
using recording::RecordedAllocation;
using recording::RowId;
using recording::Tables;
using recording::Time;

namespace {

constexpr std::string_view kDatabase = "db.sqlite";
constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kCluster = "cluster_descriptor.yaml";
constexpr std::string_view kSchemaVersion = "3.3";
// Maximum sizes of one operation's graph and of all graphs together. Without limits the report
// would be too large: one operation may dispatch a trace of thousands of programs to all devices of
// a mesh, and a recording may have many such operations.
constexpr std::size_t kMaxGraphBytes = 16 << 20;
constexpr std::size_t kMaxGraphsBytes = std::size_t{1} << 30;
// Maximum number of buffer rows of all peaks together. A peak that would exceed this number has
// only the buffers of its own chip.
constexpr std::uint64_t kMaxPeakRows = 2'000'000;

class TtnnExporter {
 public:
  TtnnExporter(const ExportJob& job, const TtnnPlan& plan, const Peaks& peaks, TtnnReport& report)
      : job_(job),
        tables_(job.reader.tables()),
        selection_(job.selection),
        plan_(plan),
        places_(selection_.places()),
        report_(report),
        core_rows_(plan.operations()) {
    // An aggregated recording has only the allocations that were never freed. Its operations are
    // therefore not called peaks.
    const char* what = tables_.run.aggregate ? "what was never freed" : "peak";
    for (std::size_t chip = 0; chip < peaks.size(); ++chip) {
      for (const Memory memory : {Memory::dram, Memory::l1}) {
        const Peak& peak = peaks[chip][static_cast<std::size_t>(memory)];
        if (peak.bytes == 0) continue;
        peaks_.emplace(peak.time_ns, PeakOf{fmt::format("{} of {} ({})", what, name_of(memory),
                                                        selection_.chips()[chip].name()),
                                            chip});
      }
    }
  }

  Result<void> write() {
    const recording::Run& run = tables_.run;
    report_.add_metadata("schema_version", kSchemaVersion);
    if (run.started_unix_ns != 0) {  // 0: imported from a graph without a clock
      report_.add_metadata("capture_timestamp_ns", fmt::format("{}", run.started_unix_ns));
    }
    report_.add_metadata("total_duration_ns", fmt::format("{}", job_.reader.end_ns()));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      report_.add_device(places_[i], tables_.device(selection_.chips()[i].devices.back()));
    }
    Usage usage(tables_, selection_);
    const auto passed = for_each_moment(
        job_.reader, usage, [&](Time time, const std::vector<std::size_t>&) { end_moment(time); },
        [&](const Event& event) { follow(event); });
    if (!passed) return passed.error();
    close_operation(std::max(job_.reader.end_ns(), open_since_));
    return {};
  }
  // Returns how many candidates of the plan were written.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  // Returns the number of operations that lack the cores of their buffers.
  [[nodiscard]] std::uint64_t without_cores() const { return without_cores_; }
  // Returns the number of operations whose graph lacks programs.
  [[nodiscard]] std::uint64_t cut_graphs() const { return cut_graphs_; }

 private:
  // A dispatch or placement: its programs and its devices.
  struct Sent {
    bool trace = false;
    std::vector<std::uint64_t> programs;
    std::vector<RowId> devices;
  };
  struct PeakOf {
    std::string name;
    std::size_t chip = 0;
  };
  struct LiveBuffer {
    RecordedAllocation allocation{};
    bool is_in_report = false;  // true after the first operation that shows it
  };
  struct Placed {
    RowId layout = 0;
    std::uint32_t name = 0;
    std::uint32_t scope = 0;
  };

  void follow(const Event& event) {
    switch (event.type) {
      case Event::Type::allocate: {
        const recording::RecordedRequest& request = tables_.request(event.allocation->request);
        if (selection_.has(request.kind) && has_place(*event.allocation, request)) {
          live_.emplace(event.allocation->id, LiveBuffer{*event.allocation});
        }
        return;
      }
      case Event::Type::free:
        return free(event);
      case Event::Type::place:
        programs_[{event.program->device, event.program->number}] = {
            event.program->layout, event.program->name, event.program->scope};
        if (plan_.placements && selection_.has(event.program->device)) {
          sent_.push_back({false, {event.program->number}, {event.program->device}});
        }
        return;
      case Event::Type::remove:
        programs_.erase({event.program->device, event.program->number});
        return;
      case Event::Type::dispatch:
        if (is_selected(tables_, selection_, event.dispatch->devices)) {
          const recording::Launch& launch = tables_.launch(event.dispatch->launch);
          sent_.push_back(
              {launch.trace, launch.programs, tables_.device_set(event.dispatch->devices)});
        }
        return;
      default:
        return;
    }
  }

  void free(const Event& event) {
    const auto at = live_.find(event.allocation->id);
    if (at == live_.end()) return;
    if (event.rest == 0) {
      live_.erase(at);
    } else {
      at->second.allocation.devices = event.rest;
    }
  }

  void end_moment(Time time) {
    const bool chosen = !plan_.chosen || plan_.chosen->contains(time);
    for (const Sent& sent : sent_) {
      if (chosen) write_operation(sent, time);
    }
    sent_.clear();
    const auto [first, last] = peaks_.equal_range(time);
    if (first == last) return;
    const std::uint64_t rows = live_rows() * static_cast<std::uint64_t>(std::distance(first, last));
    const bool all_devices = rows <= kMaxPeakRows - peak_rows_;
    if (all_devices) peak_rows_ += rows;
    for (auto peak = first; peak != last; ++peak) {
      open_operation(peak->second.name, time);
      if (!all_devices) report_.add_argument(operation_, "buffers", "of this device only");
      const auto buffers = buffer_rows(all_devices ? Selection::kNone : peak->second.chip);
      write_buffers(buffers);
      write_cores(buffers, core_rows_.take_for_peak(core_rows(buffers)));
    }
  }

  void write_operation(const Sent& sent, Time time) {
    TtnnGraph graph(max_graph_bytes());
    std::uint64_t there = 0;
    std::uint64_t added = 0;
    std::string name = "dispatch";
    const Placed* first = nullptr;
    for (const RowId device : sent.devices) {
      if (!selection_.has(device)) continue;
      const bool whole = added == there;
      there += sent.programs.size();
      if (!whole) continue;
      for (const std::uint64_t number : sent.programs) {
        const auto at = programs_.find({device, number});
        const Placed* placed = at == programs_.end() ? nullptr : &at->second;
        if (first == nullptr) first = placed;
        const bool known = placed != nullptr && placed->layout != 0 && selection_.has(Kind::cb);
        const SentProgram program{name_of_program(placed, number),
                                  known ? &tables_.layout(placed->layout) : nullptr,
                                  place_of(device), tables_.device(device).grid_x};
        if (added == 0) name = program.name;
        if (!graph.add(program)) break;
        ++added;
      }
    }
    ++written_;
    if (sent.trace) name = fmt::format("trace of {} programs", sent.programs.size());
    open_operation(std::move(name), time);
    const std::string text = graph.take();
    graph_bytes_ += text.size();
    report_.add_graph(operation_, text);
    if (added < there) {
      ++cut_graphs_;
      report_.add_argument(operation_, "graph",
                           fmt::format("cut after {} of {} programs", added, there));
    }
    if (first != nullptr && first->scope != 0) {
      report_.add_stack_trace(operation_, valid_utf8(tables_.scope(first->scope)));
    }
    if (!sent.trace && !sent.programs.empty()) {
      report_.add_argument(operation_, "program", fmt::format("{}", sent.programs.front()));
    }
    const auto buffers = buffer_rows(Selection::kNone);
    write_buffers(buffers);
    write_cores(buffers, core_rows_.take_for_operation(core_rows(buffers)));
  }

  // Returns the maximum size of the next graph. The remaining graphs share the remaining bytes
  // equally.
  [[nodiscard]] std::size_t max_graph_bytes() const {
    const std::uint64_t all = plan_.operations();
    const std::size_t left = kMaxGraphsBytes - std::min(kMaxGraphsBytes, graph_bytes_);
    return std::min<std::size_t>(kMaxGraphBytes, left / (all > written_ ? all - written_ : 1));
  }
  [[nodiscard]] std::string name_of_program(const Placed* placed, std::uint64_t number) const {
    const std::string_view name = placed == nullptr ? "" : tables_.text(placed->name);
    return name.empty() ? fmt::format("program {}", number) : valid_utf8(name);
  }
  [[nodiscard]] std::size_t place_of(RowId device) const {
    return places_[selection_.chip_of(device)];
  }

  void open_operation(std::string name, Time time) {
    close_operation(time);
    ++operation_;
    open_name_ = std::move(name);
    open_since_ = time;
    report_.add_argument(operation_, "time_ns", fmt::format("{}", time));
  }
  // Ends the current operation, which lasts until the next operation. The duration is unknown if
  // the next operation has an earlier time, which happens in a damaged recording.
  void close_operation(Time time) {
    if (operation_ == 0) return;
    const auto lasts = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(open_since_);
    report_.add_operation(
        operation_, open_name_,
        time < open_since_ ? std::nullopt : std::optional(static_cast<Time>(lasts)));
  }

  // A live buffer on one device.
  struct BufferRow {
    LiveBuffer* buffer = nullptr;
    RowId device = 0;
  };

  // Returns the live buffers on a chip, or on all chips if `chip` is kNone.
  std::vector<BufferRow> buffer_rows(std::size_t chip) {
    std::vector<BufferRow> rows;
    for (auto& [id, live] : live_) {
      for (const RowId device : tables_.device_set(live.allocation.devices)) {
        const std::size_t on = selection_.chip_of(device);
        if (on != Selection::kNone && (chip == Selection::kNone || on == chip)) {
          rows.push_back({&live, device});
        }
      }
    }
    return rows;
  }

  void write_buffers(const std::vector<BufferRow>& rows) {
    std::int64_t outputs = 0;
    for (const auto& [buffer, device] : rows) {
      const RecordedAllocation& allocation = buffer->allocation;
      const recording::RecordedRequest& request = tables_.request(allocation.request);
      report_.add_buffer(operation_, place_of(device), *allocation.address, request);
      if (std::exchange(buffer->is_in_report, true)) continue;
      report_.add_tensor(operation_, tensor_of(allocation, outputs++), request);
    }
  }

  [[nodiscard]] ReportTensor tensor_of(const RecordedAllocation& allocation,
                                       std::int64_t index) const {
    const recording::RecordedRequest& request = tables_.request(allocation.request);
    ReportTensor tensor{.id = allocation.id, .index = index, .address = *allocation.address};
    for (const std::string_view part :
         {tables_.scope(request.scope), tables_.text(request.label)}) {
      if (!part.empty()) tensor.name += (tensor.name.empty() ? "" : "/") + valid_utf8(part);
    }
    if (tensor.name.empty()) tensor.name = "(no label)";
    for (const RowId device : tables_.device_set(allocation.devices)) {
      if (selection_.has(device)) tensor.places.push_back(place_of(device));
    }
    return tensor;
  }

  // Returns the cores that hold the buffer. Returns no cores if the grid is unknown, and for
  // buffers that are not in L1.
  [[nodiscard]] CoreMask cores_of(const BufferRow& row) const {
    const recording::RecordedRequest& request = tables_.request(row.buffer->allocation.request);
    const recording::RecordedDevice& device = tables_.device(row.device);
    if (device.grid_x == 0 || !is_in_l1(request.kind)) return {};
    if (request.cores != 0) return tables_.core_set(request.cores);
    return CoreMask::first(std::uint32_t{device.grid_x} * device.grid_y);
  }
  [[nodiscard]] std::uint64_t core_rows(const std::vector<BufferRow>& rows) const {
    std::uint64_t count = 0;
    for (const BufferRow& row : rows) count += cores_of(row).count();
    return count;
  }
  void write_cores(const std::vector<BufferRow>& rows, bool fit) {
    if (!fit) {
      ++without_cores_;
      report_.add_argument(operation_, "cores", "left out, because there are too many");
      return;
    }
    for (const BufferRow& row : rows) {
      const RecordedAllocation& allocation = row.buffer->allocation;
      report_.add_chunks(operation_, place_of(row.device), *allocation.address,
                         tables_.request(allocation.request), cores_of(row),
                         tables_.device(row.device).grid_x);
    }
  }

  [[nodiscard]] std::uint64_t live_rows() const {
    std::uint64_t rows = 0;
    for (const auto& [id, live] : live_) rows += tables_.device_set(live.allocation.devices).size();
    return rows;
  }

  const ExportJob& job_;
  const Tables& tables_;
  const Selection& selection_;
  const TtnnPlan& plan_;
  std::vector<std::size_t> places_;
  TtnnReport& report_;
  std::multimap<Time, PeakOf> peaks_;
  CoreRows core_rows_;
  std::uint64_t without_cores_ = 0;
  std::uint64_t peak_rows_ = 0;  // rows of the peaks that have the buffers of all devices
  std::map<RowId, LiveBuffer> live_;
  boost::unordered_flat_map<std::pair<RowId, std::uint64_t>, Placed> programs_;
  std::vector<Sent> sent_;      // events of the current moment
  std::int64_t operation_ = 0;  // id of the last operation
  std::string open_name_;
  Time open_since_ = 0;
  std::uint64_t written_ = 0;
  std::size_t graph_bytes_ = 0;  // size of all graphs so far
  std::uint64_t cut_graphs_ = 0;
};

Result<void> write_config(const ExportJob& job, const OutputFolder& folder) {
  auto output = Output::create(folder.file(kConfig), false);
  if (!output) return output.error();
  const std::string& command = job.reader.tables().run.command;
  const nlohmann::json config = {{"report_name", command.empty() ? "ttmem" : valid_utf8(command)}};
  output->write(config.dump(2) + "\n");
  return output->finish();
}

Result<void> write_cluster(const ExportJob& job, const OutputFolder& folder) {
  auto output = Output::create(folder.file(kCluster), false);
  if (!output) return output.error();
  output->write(cluster_descriptor(job.selection, job.selection.places()));
  return output->finish();
}

Notes notes_of(const TtnnPlan& plan, const TtnnExporter& exporter) {
  Notes notes;
  const std::uint64_t written = exporter.written();
  if (plan.candidates > written) {
    notes.push_back(
        fmt::format("{} of {} {} are operations of the report: those at which L1 was fullest",
                    written, plan.candidates, plan.placements ? "placements" : "dispatches"));
  }
  if (plan.candidates == 0) {
    notes.emplace_back("the recording has no programs: the report shows the peaks only");
  } else if (plan.placements) {
    notes.emplace_back(
        "the recording has no dispatches: placements of programs are the operations");
  }
  if (exporter.cut_graphs() > 0) {
    notes.push_back(
        fmt::format("{} cut: too many programs times devices. Their argument 'graph' says where; "
                    "--device chooses the devices that are exported",
                    plural(exporter.cut_graphs(), "graph is", "graphs are")));
  }
  if (exporter.without_cores() > 0) {
    notes.push_back(
        fmt::format("{} without the cores of the buffers: too many buffers times cores. Their "
                    "argument 'cores' says so; --device chooses the devices that are exported",
                    plural(exporter.without_cores(), "operation is", "operations are")));
  }
  if (plan.without_place > 0) {
    notes.push_back(
        fmt::format("{} not in the report: kernels, host memory, and what has no address or no "
                    "size in a bank",
                    plural(plan.without_place, "allocation is", "allocations are")));
  }
  return notes;
}

}  // namespace

Result<Notes> write_ttnn_visualizer(const ExportJob& job, OutputFolder& folder) {
  const auto plan = plan_operations(job);
  if (!plan) return plan.error();
  const auto peaks = find_peaks(job.reader, job.selection);
  if (!peaks) return peaks.error();
  auto report = TtnnReport::create(folder.file(kDatabase));
  if (!report) return report.error();
  TtnnExporter exporter(job, *plan, *peaks, *report);
  for (const auto& done : {exporter.write(), report->finish(), write_config(job, folder),
                           write_cluster(job, folder)}) {
    if (!done) return done.error();
  }
  const auto finished = folder.finish({kDatabase, kConfig, kCluster});
  if (!finished) return finished.error();
  return notes_of(*plan, exporter);
}

}  // namespace ttmem::exports
