// SPDX-License-Identifier: Apache-2.0
#include "show/views/allocations.hpp"

#include <fmt/format.h>

#include "analyse/selection/select.hpp"
#include "show/views/device_list.hpp"
#include "text/core_ranges.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::views {
namespace {

using model::Allocation;
using model::Snapshot;

// Returns core ranges such as "(0,0)-(7,0)". If no cores are recorded, returns "all" for a buffer
// with a known number of banks, otherwise "n/a".
std::string cores_of(const Snapshot& snapshot, const Allocation& a, bool all) {
  if (!a.cores) return a.banks ? "all" : std::string(text::kUnknown);
  const std::uint16_t columns =
      a.device < snapshot.devices.size() ? snapshot.devices[a.device].grid_x : std::uint16_t{0};
  return text::format_core_ranges(text::core_ranges(*a.cores, columns), all);
}

std::string label_of(const Allocation& a) {
  std::string text = model::origin_of(a.scope, a.label);
  const auto add = [&text](std::string_view mark) {
    text += text.empty() ? std::string(mark) : fmt::format(" ({})", mark);
  };
  if (a.persistent) add("persistent");
  if (a.estimate) add("size estimated");
  return text::or_none(text);
}

std::vector<text::TableCell> row_of(const Snapshot& snapshot, const Allocation& a,
                                    const text::TextOptions& options) {
  const text::Color color = a.state == model::State::dead ? text::Color::red : text::Color::plain;
  const model::Process* process = selection::process_of(snapshot, a);
  return {{text::format_devices(snapshot, a), color},
          {process ? text::format_pid(*process) : fmt::format("{}", a.pid), color},
          {process && !process->name.empty() ? process->name : std::string(text::kUnknown), color},
          {text::or_none(process ? text::format_job(process->job) : ""), color},
          {std::string(name_of(a.state)), color},
          {std::string(name_of(a.kind)), color},
          {fmt::format("{}", a.id), color},
          {a.address ? text::format_hex(*a.address) : std::string(text::kUnknown), color},
          {text::format_bytes(model::Bytes(a.bytes), options.units), color},
          {text::format_bytes(a.physical_bytes, options.units), color},
          {text::format_bytes(a.bytes_per_bank, options.units, Scale::core), color},
          {text::format_count(a.banks), color},
          {cores_of(snapshot, a, !options.shorten), color},
          {text::format_age(a.age_ns), color},
          {label_of(a), color}};
}

text::Table allocation_table(bool any_dead) {
  using enum text::Column::Align;
  return text::Table({{"DEV"},
                      {"PID"},
                      {"PROCESS", left, 7},
                      {"JOB", left, 10, text::Column::Cut::never, true},
                      {"STATE", left, any_dead ? 0 : 9},
                      {"KIND", left},
                      {"ID", right, 6},
                      {"ADDRESS", right, 1},
                      {"SIZE", right, 2},
                      {"PHYSICAL"},
                      {"PER BANK", right, 8},
                      {"BANKS", right, 3},
                      {"CORES", left, 5},
                      {"AGE", right, 4},
                      {"LABEL", left, 0, text::Column::Cut::middle}});
}

// Returns a line such as "3 allocations, 2.00 MiB physical and 1 of unknown physical size."
std::string sum_text(const Snapshot& snapshot, const std::vector<Allocation>& allocations,
                     const text::TextOptions& options) {
  std::uint64_t bytes = 0;
  std::uint64_t logical = 0;
  std::uint64_t sized = 0;
  std::uint64_t unsized = 0;
  bool any_mesh = false;
  for (const Allocation& a : allocations) {
    any_mesh |= devices_of(a).size() > 1;
    if (a.left_out) continue;
    bytes = saturating_add(bytes, on_all_devices(a, a.physical_bytes.value_or(0)));
    logical = saturating_add(logical, on_all_devices(a, a.bytes));
    ++(a.physical_bytes ? sized : unsized);
  }
  const auto size = [&](std::uint64_t of) {
    return text::format_bytes(model::Bytes(of), options.units);
  };
  std::string sum = plural(allocations.size(), "allocation", "allocations");
  if (sized > 0) {
    sum += fmt::format(", {} physical", size(bytes));
    if (unsized > 0) sum += fmt::format(" and {} of unknown physical size", unsized);
  } else if (unsized > 0) {
    sum += fmt::format(", {} logical, of unknown physical size", size(logical));
  }
  const std::uint64_t left_out = allocations.size() - sized - unsized;
  if (left_out > 0) sum += fmt::format(", {} not added up: more than there is", left_out);
  if (any_mesh) sum += "; on all devices, while the list has the sizes on one device";
  return (snapshot.complete() ? "" : "At least ") + sum + ".";
}

}  // namespace

std::string allocations_text(const Snapshot& snapshot, const std::vector<Allocation>& allocations,
                             std::uint64_t hidden_cbs, const text::TextOptions& options) {
  std::string text;
  bool any_dead = false;
  for (const Allocation& a : allocations) any_dead |= a.state == model::State::dead;
  if (allocations.empty()) {
    text = snapshot.blind()
               ? no_device_text(snapshot, options)
               : text::wrapped("No live allocation matches.", 0, text::Color::plain, options) +
                     not_complete_text(snapshot, options);
  } else {
    text::Table table = allocation_table(any_dead);
    for (const Allocation& a : allocations) table.add_row(row_of(snapshot, a, options));
    text = table.render(0, options) + "\n" +
           text::wrapped(sum_text(snapshot, allocations, options), 0, text::Color::plain, options) +
           not_complete_text(snapshot, options);
  }
  if (hidden_cbs > 0) {
    text +=
        text::wrapped(fmt::format("{} not listed: `ttmem allocs --kind cb` lists them, `ttmem "
                                  "programs` says which programs take the most.",
                                  plural(hidden_cbs, "circular buffer is", "circular buffers are")),
                      0, text::Color::dim, options);
  }
  return text;
}

}  // namespace ttmem::views
