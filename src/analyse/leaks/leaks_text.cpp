// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/leaks_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/saturating.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::leaks {
namespace {

using report::Growth;
using text::Color;
using text::Column;
using text::origin_or_none;
using text::Table;
using text::TextOptions;

std::string size(Bytes bytes, const TextOptions& options) {
  return text::format_bytes(bytes, options.units);
}

std::string name_of_leak(const Leak& leak) {
  if (!leak.kind) return "(a recording would name them)";
  return leak.shared ? "(circular buffers of its programs)"
                     : origin_or_none(leak.scope, leak.label);
}

std::string process_of(const Leak& leak) {
  return text::format_pid(leak.pid, leak.foreign_pid, leak.host_pid) + " " + leak.process;
}

// Returns for example "12.3s ago" if the age is known, or "at 12.3s" for a recording. Returns an
// empty text if neither is known.
std::string since(const Leak& leak) {
  if (leak.age_ns) return text::format_age(*leak.age_ns) + " ago";
  return leak.begin_ns ? "at " + text::format_moment(*leak.begin_ns) : "";
}

std::string heading(const std::string& text, const TextOptions& options) {
  return text::wrapped(text, 0, Color::bold, options);
}

// Returns for example "what: 1.2 GiB on all devices in 3 allocations". Leaves out "on all devices"
// if there is only one device, and the count if it is unknown.
std::string heading(const char* what, const std::vector<Leak>& leaks, const TextOptions& options) {
  BytesOnDevices<std::uint32_t> bytes_on;
  std::uint64_t count = 0;
  bool is_counted = true;
  for (const Leak& leak : leaks) {
    bytes_on.add(leak.bytes_on);
    count = saturating_add(count, leak.count.value_or(0));
    is_counted = is_counted && leak.count;
  }
  std::string text = fmt::format("{}: {}", what, size(bytes_on.on_all(), options));
  if (bytes_on.of_each().size() > 1) text += " on all devices";
  if (is_counted) text += " in " + text::plural(count, "allocation", "allocations");
  return heading(text, options);
}

std::string rest_text(std::size_t all, std::size_t top, const TextOptions& options) {
  if (all <= top) return {};
  return text::Line(options).add(fmt::format("  and {} more", all - top), Color::dim).finish();
}

// A row of a list of leaks.
struct Row {
  const Leak* leak;
  bool has_bytes;  // false: the bytes are unknown
  std::string kind;
  std::string name;
  std::string extra;  // text of the column that only one class of leaks has
};

// Returns a table of the first `top` rows.
std::string list_text(const std::vector<Row>& rows, const char* extra_header, std::size_t top,
                      const TextOptions& options) {
  using enum Column::Align;
  Table table({{"BYTES/DEVICE"},
               {"ALL DEVICES", right, 1},
               {"COUNT"},
               {"KIND", left},
               {"SCOPE/LABEL", left, 0, Column::Cut::middle},
               {extra_header, left},
               {"DEVICE", left, 3},
               {"PROCESS", left, 2},
               {"OLDEST", left, 4}});
  for (std::size_t i = 0; i < std::min(top, rows.size()); ++i) {
    const Leak& leak = *rows[i].leak;
    const auto bytes = [&](std::uint64_t value) {
      return size(rows[i].has_bytes ? Bytes(value) : std::nullopt, options);
    };
    table.add_row({{bytes(leak.bytes_on.per_device())},
                   {bytes(leak.bytes_on.on_all())},
                   {text::format_count(leak.count)},
                   {rows[i].kind},
                   {rows[i].name},
                   {rows[i].extra},
                   {text::format_ids(leak.devices())},
                   {process_of(leak)},
                   {since(leak)}});
  }
  return table.render(2, options) + rest_text(rows.size(), top, options);
}

std::string kind_of(const Leak& leak) {
  return leak.kind ? std::string(ttmem::name_of(*leak.kind)) : "?";
}

// Returns the text of a leak for the extra column. Each class of leaks has another extra column.
using Extra = std::string (*)(const Leak& leak);

std::string list_text(const std::vector<Leak>& leaks, const char* extra_header, Extra extra,
                      std::size_t top, const TextOptions& options) {
  std::vector<Row> rows;
  rows.reserve(leaks.size());
  for (const Leak& leak : leaks) {
    rows.push_back({&leak, true, kind_of(leak), name_of_leak(leak), extra(leak)});
  }
  return list_text(rows, extra_header, top, options);
}

std::string how_it_ended(const Leak& leak) {
  if (!leak.killed) return "unclean";
  return *leak.killed ? "killed" : "exited";
}
std::string nothing(const Leak& /*leak*/) { return ""; }

std::string growth_name(const Growth& growth) {
  return growth.all_programs ? "(program cache)" : origin_or_none(growth.scope, growth.label);
}

// Returns the average growth from one sample to the next sample, after the warm-up.
std::string each_time(const Growth& growth, const TextOptions& options) {
  if (growth.last_bytes) return size(growth.grown_bytes() / growth.steps, options);
  return fmt::format("{:.1f} programs",
                     static_cast<double>(growth.last_count - growth.first_count) /
                         static_cast<double>(growth.steps));
}

std::string growth_text(const Leaks& leaks, std::size_t top, const TextOptions& options) {
  using enum Column::Align;
  const bool marks = !leaks.file.empty();
  Table table({{"GROWN BY"},
               {marks ? "EACH MARK" : "EACH LOOK"},
               {"TO", right, 2},
               {"COUNT"},
               {"KIND", left},
               {"SCOPE/LABEL", left, 0, Column::Cut::middle},
               {marks ? "MARK" : "", left, 1},
               {"PROCESS", left, 3}});
  for (std::size_t i = 0; i < std::min(top, leaks.growth.size()); ++i) {
    const Growth& growth = leaks.growth[i];
    table.add_row({{growth.last_bytes ? size(growth.grown_bytes(), options) : "n/a"},
                   {each_time(growth, options)},
                   {size(growth.last_bytes, options)},
                   {fmt::format("{} to {}", growth.first_count, growth.last_count)},
                   {std::string(ttmem::name_of(growth.kind))},
                   {growth_name(growth)},
                   {marks ? fmt::format("{} ({}x)", growth.mark, growth.marks) : ""},
                   {fmt::format("{} {}", growth.pid, growth.process)}});
  }
  return table.render(2, options) + rest_text(leaks.growth.size(), top, options);
}

// Returns for example "every time, 5 visits".
std::string how_often(const Outlived& outlived) {
  switch (outlived.how) {
    case Outlived::How::every_time:
      return fmt::format("every time, {} visits", outlived.visits);
    case Outlived::How::sometimes:
      return fmt::format("sometimes, {} visits", outlived.visits);
    case Outlived::How::once:
      break;
  }
  return "entered once";
}

std::string outlived_heading(const Leaks& leaks, const TextOptions& options) {
  const auto has = [&](Outlived::How how) {
    return std::any_of(leaks.outlived_scope.begin(), leaks.outlived_scope.end(),
                       [&](const Outlived& outlived) { return outlived.how == how; });
  };
  std::string text = "Alive although the scope was left in which it was taken";
  if (leaks.has_suspects()) text += "; suspects: what was left behind every time";
  if (has(Outlived::How::once)) text += "; of a scope entered once it is usual for weights";
  return heading(text, options);
}

std::string outlived_text(const Leaks& leaks, std::size_t top, const TextOptions& options) {
  std::vector<Row> rows;
  rows.reserve(leaks.outlived_scope.size());
  for (const Outlived& outlived : leaks.outlived_scope) {
    const Leak& leak = outlived.what;
    const bool programs = outlived.of == Outlived::Of::programs;
    rows.push_back({&leak, !programs, programs ? "program" : kind_of(leak),
                    origin_or_none(leak.scope, leak.label), how_often(outlived)});
  }
  return list_text(rows, "LEFT BEHIND", top, options);
}

std::string next_step(const Leaks& leaks) {
  if (!leaks.growth.empty()) {
    const Growth& first = leaks.growth.front();
    return fmt::format(
        "Next: find what keeps {} alive; scopes (ttmem_scope_push, ttmem run --ops) narrow it down",
        growth_name(first));
  }
  if (leaks.has_suspects()) {
    const Leak& first = leaks.outlived_scope.front().what;
    return fmt::format("Next: find what keeps {} alive after its scope",
                       origin_or_none(first.scope, first.label));
  }
  if (!leaks.dead_process.empty()) {
    return leaks.file.empty()
               ? "Next: the devices hold none of this any more; ttmem clean removes these notes"
               : "Next: free these, or close their device, before the process ends";
  }
  return leaks.file.empty()
             ? "Next: ttmem record -- CMD, then ttmem leaks FILE, names what was left"
             : "Next: free these before their device is closed";
}

std::string no_leaks(const Leaks& leaks) {
  if (leaks.saw == Leaks::Saw::nothing) return "Leaks are not known: nothing could be read";
  const char* const where = leaks.saw == Leaks::Saw::some ? " in what could be read" : "";
  return fmt::format("No leaks found{}. Looked at: {}", where, text::join(leaks.looked_at, "; "));
}

}  // namespace

std::string leaks_text(const Leaks& leaks, std::size_t top, const TextOptions& options) {
  std::string text;
  if (!leaks.file.empty()) {
    const std::string file = text::printable(leaks.file, options.unicode);
    text += text::Line(options).add(file, Color::bold).finish();
  }
  if (!leaks.dead_process.empty()) {
    text += heading("Held by processes when they ended", leaks.dead_process, options) +
            list_text(leaks.dead_process, "ENDED", how_it_ended, top, options);
  }
  if (!leaks.closed_device.empty()) {
    text += heading("Left on devices that were closed", leaks.closed_device, options) +
            list_text(leaks.closed_device, "", nothing, top, options);
  }
  if (!leaks.growth.empty()) {
    text +=
        heading(
            leaks.file.empty()
                ? "Grew for as long as it was looked at, and never shrank (bytes of all devices)"
                : "Grew from mark to mark, and never shrank (bytes of all devices)",
            options) +
        growth_text(leaks, top, options);
  }
  if (!leaks.outlived_scope.empty()) {
    text += outlived_heading(leaks, options) + outlived_text(leaks, top, options);
  }
  text += text::wrapped(leaks.any() ? next_step(leaks) : no_leaks(leaks), 0, Color::plain, options);
  for (const std::string& unknown : leaks.unknown) {
    text += text::wrapped(unknown, 6, Color::yellow, options, "Note:");
  }
  return text;
}

}  // namespace ttmem::leaks
