// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "analyse/report/holders.hpp"
#include "analyse/report/limit.hpp"
#include "analyse/report/peak_ranges.hpp"
#include "analyse/report/select.hpp"
#include "analyse/report/settings.hpp"
#include "read/recording/file/sources.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::report {
namespace {

using text::Color;
using text::Column;
using text::format_moment;
using text::origin_or_none;
using text::Table;
using text::TextOptions;

Bytes bytes_of_extreme(const std::optional<Extreme>& extreme) {
  return extreme ? Bytes(static_cast<std::uint64_t>(extreme->bytes)) : std::nullopt;
}
std::string time_of(const std::optional<Extreme>& extreme) {
  return extreme ? format_moment(extreme->time_ns) : "";
}

std::string size(Bytes bytes, const TextOptions& options) {
  return text::format_bytes(bytes, options.units);
}
std::string core_size(Bytes bytes, const TextOptions& options) {
  return text::format_bytes(bytes, options.units, text::Scale::core);
}

std::string first_line(const Report& report, const ReportTextOptions& what,
                       const TextOptions& options) {
  text::Line line(options);
  line.add(text::printable(what.file, options.unicode), Color::bold);
  if (!report.command.empty()) line.add("  " + report.command);
  line.add(fmt::format("  {}, {}", format_moment(report.duration_ns),
                       text::plural(report.events, "event", "events")));
  return line.finish();
}

// Describes the first failure, "Out of memory in process 4711 (python3) after 3.2s: ...", and the
// number of other failures.
std::string failures_text(const Report& report, const TextOptions& options) {
  if (report.failures.empty()) return {};
  const RunFailure& first = report.failures.front();
  const std::string said = first.text.substr(0, first.text.find('\n'));
  std::string line =
      fmt::format("Out of memory in process {} ({}) after {}{}", first.pid,
                  text::printable(first.process, options.unicode), format_moment(first.time_ns),
                  said.empty() ? "" : ": " + text::printable(said, options.unicode));
  if (report.failures.size() > 1) {
    line += fmt::format(", and {} more", text::plural(report.failures.size() - 1, "time", "times"));
  }
  return text::wrapped(line, 2, Color::red, options);
}

// Returns the reasons why figures are not exact.
std::vector<std::string> cautions(const Report& report, const TextOptions& options) {
  std::vector<std::string> list;
  if (report.lost_events > 0) {
    list.push_back(
        fmt::format("{} lost in {}: peaks with \">=\" may be higher, least figures lower; what was "
                    "held after it "
                    "is right (record with a larger TTMEM_EVENTS)",
                    text::plural(report.lost_events, "event was", "events were"),
                    text::plural(report.gaps, "gap", "gaps")));
  }
  for (const auto& [reason, processes] : report.not_tracked) {
    list.push_back(fmt::format("{} not tracked: {}: what they took is missing",
                               text::plural(processes, "process was", "processes were"),
                               text::printable(reason, options.unicode)));
  }
  if (report.source == recording::kLooks) {
    list.emplace_back(
        "recorded as samples of another machine (--server): allocations that lived shorter than "
        "the time between two samples are missing, and peaks are \"at least\"");
  }
  if (report.aggregate) {
    list.emplace_back(
        "recorded with --aggregate: the peaks are those of its timeline, and what they were made "
        "of is not known");
  }
  if (!report.complete)
    list.emplace_back("the recorder was killed, or could not write: the end is missing");
  if (report.unknown_programs > 0) {
    list.push_back(
        fmt::format("the circular buffers of {} are not known: gone before they were read",
                    text::plural(report.unknown_programs, "program", "programs")));
  }
  return list;
}

struct PeakRow {
  const char* name;
  std::optional<Extreme> peak;
  Bytes capacity;
  Bytes end;
  std::optional<Extreme> free;       // least value of the largest free block
  std::optional<FigureRange> range;  // range of the peak
};

std::vector<PeakRow> rows_of(const DeviceReport& device) {
  const auto row = [&](const char* name, Kind kind, Bytes capacity) {
    return PeakRow{name,         device.peak[kind],          capacity, device.end[kind],
                   std::nullopt, peak_range_of(device, kind)};
  };
  std::vector<PeakRow> rows = {
      row("DRAM", Kind::dram, device.dram_capacity),
      {"L1", device.l1_peak, device.l1_capacity, device.l1_end, {}, l1_peak_range_of(device)},
      row("CB", Kind::cb, device.l1_capacity),
      row("Trace", Kind::trace, device.trace_region),
      row("Kernels", Kind::kernel, device.l1_capacity)};
  rows[0].free = device.least_largest_free[Kind::dram];
  rows[1].free = device.least_largest_free[Kind::l1];
  return rows;
}

// Returns the peak, as ">=1.20 GiB" if it is only a lower bound.
std::string peak_text(const std::optional<FigureRange>& range, const TextOptions& options) {
  if (!range) return size(Bytes(), options);
  return (range->is_exact() ? "" : ">=") +
         size(static_cast<std::uint64_t>(shown_bound(*range)), options);
}

// Returns true if the time of the shown peak is known.
bool was_seen(const std::optional<Extreme>& peak, const std::optional<FigureRange>& range) {
  return peak && range && peak->bytes == shown_bound(*range);
}

std::string peaks_text(const DeviceReport& device, const TextOptions& options) {
  using enum Column::Align;
  Table table({{"", left},
               {"PEAK"},
               {"AT"},
               {"SHARE"},
               {"AT END", right, 2},
               {"LEAST FREE BLOCK/BANK", right, 1},
               {"AT", right, 1}});
  const std::string at_most = device.all_seen ? "" : "<=";
  for (const PeakRow& row : rows_of(device)) {
    const Bytes peak = row.range ? Bytes(shown_bound(*row.range)) : Bytes();
    const auto share = text::share_of(peak, row.capacity);
    const Color color = text::color_of(text::tone_of_share(share));
    table.add_row({{row.name},
                   {peak_text(row.range, options), color},
                   {was_seen(row.peak, row.range) ? time_of(row.peak) : ""},
                   {share ? text::format_share(share) : ""},
                   {size(row.end, options)},
                   {row.free ? at_most + size(bytes_of_extreme(row.free), options) : ""},
                   {time_of(row.free)}});
  }
  std::string text = table.render(2, options);
  if (!device.least_headroom) return text;
  const std::int64_t room = device.least_headroom->bytes;
  text::Line line(options);
  line.add("  Headroom: least ")
      .add(device.all_seen && device.cbs_seen ? "" : "<=")
      .add(text::format_signed_bytes(room, options.units, text::Scale::core),
           room < 0 ? Color::red : Color::plain);
  line.add(
      fmt::format(" between CBs and L1 buffers of a core, at {}", time_of(device.least_headroom)));
  return text + line.finish();
}

// Devices whose figures differ only in the times of the extremes. In a mesh, these times differ
// because a buffer is allocated on one device after another.
struct DeviceGroup {
  std::vector<const DeviceReport*> devices;
  std::string figures;  // the text without times
};

DeviceReport without_times(const DeviceReport& device) {
  DeviceReport timeless = device;
  const auto clear = [](std::optional<Extreme>& extreme) {
    if (extreme) extreme->time_ns = 0;
  };
  for (auto& extreme : timeless.peak) clear(extreme);
  for (auto& extreme : timeless.least_largest_free) clear(extreme);
  clear(timeless.l1_peak);
  clear(timeless.least_headroom);
  return timeless;
}

std::vector<DeviceGroup> grouped(const Report& report, const TextOptions& options) {
  std::vector<DeviceGroup> groups;
  for (const DeviceReport& device : report.devices) {
    std::string figures = peaks_text(without_times(device), options);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const DeviceGroup& group) {
      const DeviceReport& first = *group.devices.front();
      return group.figures == figures && first.board == device.board && first.arch == device.arch;
    });
    if (same == groups.end()) {
      groups.push_back({{&device}, std::move(figures)});
    } else {
      same->devices.push_back(&device);
    }
  }
  return groups;
}

std::string group_text(const DeviceGroup& group, const Report& report, const TextOptions& options) {
  const DeviceReport& first = *group.devices.front();
  std::string title;
  if (group.devices.size() == 1) {
    title = fmt::format("Device {}:", name_of(first, report));
  } else {
    std::vector<std::uint32_t> ids;
    for (const DeviceReport* device : group.devices) ids.push_back(device->id);
    std::sort(ids.begin(), ids.end());
    title = fmt::format("Devices {}:", format_ids(ids));
  }
  text::Line line(options);
  line.add(title, Color::bold);
  if (const std::string model = text::format_model(first.board, first.arch); !model.empty()) {
    line.add(" " + model);
  }
  if (group.devices.size() > 1) line.add(", each of them");
  return line.finish() + peaks_text(first, options);
}

std::string holder_name(const Holder& holder) {
  if (holder.shared) return "(shared by programs of several names)";
  return origin_or_none(holder.scope, holder.label);
}

// Formats the entries after the first `top`: "and 12 more: 3.10 MiB".
std::string rest_text(const std::vector<Holder>& holders, std::size_t top,
                      const TextOptions& options) {
  if (holders.size() <= top) return {};
  std::uint64_t bytes = 0;
  for (std::size_t i = top; i < holders.size(); ++i) bytes += holders[i].bytes;
  text::Line line(options);
  line.add(fmt::format("  and {} more: {}", holders.size() - top, size(bytes, options)),
           Color::dim);
  return line.finish();
}

std::string holders_text(const std::vector<Holder>& all, std::uint64_t whole, std::size_t top,
                         const TextOptions& options) {
  using enum Column::Align;
  const std::vector<Holder> holders = by_name(all);
  Table table({{"BYTES/DEVICE"},
               {"SHARE"},
               {"COUNT"},
               {"KIND", left},
               {"SCOPE/LABEL", left, 0, Column::Cut::middle},
               {"PROCESS", left, 1}});
  for (std::size_t i = 0; i < std::min(top, holders.size()); ++i) {
    const Holder& holder = holders[i];
    table.add_row({{size(holder.bytes, options)},
                   {text::format_share(text::share_of(holder.bytes, whole))},
                   {text::format_count(holder.count)},
                   {std::string(name_of(holder.kind))},
                   {holder_name(holder)},
                   {holder.process}});
  }
  return table.render(2, options) + rest_text(holders, top, options);
}

std::string heading(const std::string& text, const TextOptions& options) {
  return text::Line(options).add(text, Color::bold).finish();
}

std::string composition_text(const DeviceReport& device, const Report& report, std::size_t top,
                             const TextOptions& options) {
  std::string text;
  const auto add = [&](const char* what, const std::optional<Extreme>& peak,
                       const std::optional<FigureRange>& range,
                       const std::vector<Holder>& holders) {
    if (!peak || peak->bytes == 0 || holders.empty()) return;
    const char* const title =
        was_seen(peak, range)
            ? "What the {} peak of device {} was made of: {} at {}"
            : "What the {} peak of device {} was made of is not known; the most that was seen is "
              "{} at {}";
    text += heading(fmt::format(fmt::runtime(title), what, name_of(device, report),
                                size(bytes_of_extreme(peak), options), time_of(peak)),
                    options);
    text += holders_text(holders, static_cast<std::uint64_t>(peak->bytes), top, options);
  };
  add("L1", device.l1_peak, l1_peak_range_of(device), device.at_l1_peak);
  add("DRAM", device.peak[Kind::dram], peak_range_of(device, Kind::dram), device.at_dram_peak);
  return text;
}

std::string end_text(const DeviceReport& device, const Report& report,
                     const ReportTextOptions& what, const TextOptions& options) {
  std::uint64_t whole = 0;
  for (const Holder& holder : device.held_at_end) whole += holder.bytes;
  if (!device.held_is_known) {
    return heading(fmt::format("What was held at the end on device {} is not known: it was closed "
                               "while events were lost",
                               name_of(device, report)),
                   options);
  }
  if (whole == 0) return heading("Nothing was held at the end", options);
  std::string text = heading(fmt::format("Held at the end{} on device {}: {}",
                                         device.held_at_once ? "" : " of each process",
                                         name_of(device, report), size(whole, options)),
                             options);
  if (!what.brief) text += holders_text(device.held_at_end, whole, what.top, options);
  if (report.leak_count() == 0) return text;
  const std::string leaks = text::plural(report.leak_count(), "allocation", "allocations");
  return text + text::wrapped(fmt::format("not freed, on all devices: {}{} in {}",
                                          report.all_seen() ? "" : "at least ",
                                          size(report.leak_bytes(), options), leaks),
                              2, Color::yellow, options);
}

std::string growth_text(const Report& report, std::size_t top, const TextOptions& options) {
  if (report.growth.empty()) return {};
  using enum Column::Align;
  Table table({{"GROWN BY"},
               {"TO"},
               {"TIMES"},
               {"KIND", left},
               {"SCOPE/LABEL", left, 0, Column::Cut::middle}});
  for (std::size_t i = 0; i < std::min(top, report.growth.size()); ++i) {
    const Growth& growth = report.growth[i];
    table.add_row(
        {{size(growth.grown_bytes(), options)},
         {size(growth.last_bytes, options)},
         {text::format_count(growth.grew)},
         {std::string(name_of(growth.kind))},
         {growth.all_programs ? "(program cache)" : origin_or_none(growth.scope, growth.label)}});
  }
  return heading(
             fmt::format("Grew from mark to mark and never shrank ({} marks, bytes of all devices)",
                         report.marks),
             options) +
         table.render(2, options);
}

std::string churn_text(const Report& report, std::size_t top, const TextOptions& options) {
  if (report.churn.empty()) return {};
  using enum Column::Align;
  Table table(
      {{"TIMES"}, {"BYTES EACH"}, {"KIND", left}, {"SCOPE/LABEL", left, 0, Column::Cut::middle}});
  for (std::size_t i = 0; i < std::min(top, report.churn.size()); ++i) {
    const Churn& churn = report.churn[i];
    table.add_row({{text::format_count(churn.allocations)},
                   {size(churn.size, options)},
                   {std::string(name_of(churn.kind))},
                   {origin_or_none(churn.scope, churn.label)}});
  }
  return heading("Allocated most often", options) + table.render(2, options);
}

std::string trace_text(const Report& report, std::size_t top, const TextOptions& options) {
  if (report.while_trace_live.empty()) return {};
  std::uint64_t count = 0;
  for (const Holder& holder : report.while_trace_live) count += holder.count;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(top, report.while_trace_live.size()); ++i) {
    const Holder& holder = report.while_trace_live[i];
    names.push_back(
        fmt::format("{} x{}", origin_or_none(holder.scope, holder.label), holder.count));
  }
  return text::wrapped(
      fmt::format("{} made while a trace was live, which its replay may overwrite: {}",
                  text::plural(count, "allocation was", "allocations were"),
                  text::join(names, ", ")),
      2, Color::yellow, options);
}

std::string imported_text(const Report& report, const TextOptions& options) {
  if (report.imported_figures.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [name, bytes] : report.imported_figures) {
    parts.push_back(name + " " + core_size(bytes, options));
  }
  return heading(fmt::format("What {} itself calculates, on one core", report.source), options) +
         text::wrapped(text::join(parts, ", "), 2, Color::plain, options);
}

// Formats the size of a region that was set when the device was opened. Returns "none" for the size
// 0, and "not known" if the size is unknown.
std::string was_set(Bytes region, const TextOptions& options, bool per_core) {
  if (!region) return "not known";
  if (*region == 0) return "none";
  return per_core ? core_size(region, options) : size(region, options);
}

std::string settings_text(const DeviceReport& device, const TextOptions& options) {
  const Settings settings = settings_for(device);
  std::string text;
  const auto add = [&](const std::string& line) {
    text += text::wrapped(line, 2, Color::plain, options);
  };
  if (const auto& trace = device.peak[Kind::trace]; trace && trace->bytes > 0) {
    add(fmt::format("trace_region_size={}  used {}, set {} (of all banks)",
                    *settings.trace_region_size, size(bytes_of_extreme(trace), options),
                    was_set(device.trace_region, options, false)));
  }
  if (device.l1_small_peak_per_core.value_or(0) > 0) {
    add(fmt::format("l1_small_size={}  used {} of a core, set {}", *settings.l1_small_size,
                    core_size(device.l1_small_peak_per_core, options),
                    was_set(device.l1_small_region, options, true)));
  }
  if (text.empty()) return {};
  return heading("Open the device with (a tenth more than was used)", options) + text;
}

}  // namespace

std::string name_of(const DeviceReport& device, const Report& report) {
  const auto same = std::count_if(report.devices.begin(), report.devices.end(),
                                  [&](const DeviceReport& other) { return other.id == device.id; });
  const std::string identity = device.uid != 0 ? text::format_hex(device.uid) : device.arch;
  return same > 1 && !identity.empty() ? fmt::format("{} ({})", device.id, identity)
                                       : fmt::format("{}", device.id);
}

std::string report_text(const Report& report, const ReportTextOptions& what,
                        const TextOptions& options) {
  std::string text = first_line(report, what, options);
  for (const std::string& caution : cautions(report, options)) {
    text += text::wrapped(caution, 2, Color::yellow, options);
  }
  text += failures_text(report, options);
  const DeviceReport* const device = fullest(report);
  if (device == nullptr) return text + "No device was used, as far as was reported.\n";
  for (const DeviceGroup& group : grouped(report, options))
    text += group_text(group, report, options);
  text += composition_text(*device, report, what.top, options);
  text += end_text(*device, report, what, options);
  text += growth_text(report, what.top, options);
  if (!what.brief) text += churn_text(report, std::min<std::size_t>(what.top, 3), options);
  text += trace_text(report, what.top, options);
  text += settings_text(*device, options);
  return text + imported_text(report, options);
}

}  // namespace ttmem::report
