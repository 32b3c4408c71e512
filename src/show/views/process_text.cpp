// SPDX-License-Identifier: Apache-2.0
#include "show/views/process_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "text/format.hpp"
#include "text/table.hpp"
#include "text/typed_lists.hpp"

namespace ttmem::views {
namespace {

using model::Process;
using model::State;

// Identifies a process. The rows of one process on several devices have equal identities; different
// processes have different identities.
using Identity = std::tuple<model::ProcessKey, model::Source, std::string_view, std::string_view>;
Identity identity_of(const Process& p) { return {model::key_of(p), p.source, p.name, p.user}; }

template <auto figure>
bool less(const ProcessTotal& a, const ProcessTotal& b) {
  return std::invoke(figure, a.sum) < std::invoke(figure, b.sum);
}

template <Kind kind>
model::Bytes used(const Process& process) {
  return process.used(kind);
}

std::optional<std::uint64_t> allocations_of(const Process& process) {
  return live_allocations(process.kinds);
}

std::string pid_text(const ProcessTotal& total, text::Units) { return text::format_pid(total.sum); }

// Returns the pid to show: the pid in the reader's pid namespace, or if that pid is unknown, the
// pid in the process's own pid namespace.
std::int32_t pid_of(const Process& process) { return process.host_pid.value_or(process.pid); }

std::string user_text(const ProcessTotal& total, text::Units) {
  return total.sum.user.empty() ? std::string(text::kUnknown) : total.sum.user;
}

std::string job_of(const Process& process) { return text::format_job(process.job); }
std::string job_text(const ProcessTotal& total, text::Units) {
  return text::or_none(job_of(total.sum));
}

std::string state_text(const ProcessTotal& total, text::Units) {
  if (!total.sum.not_tracked.empty()) return "not tracked";
  return std::string(name_of(total.sum.state));
}

template <auto figure>
constexpr ProcessColumn size_column(std::string_view header, int drop) {
  return {header,
          text::Column::Align::right,
          drop,
          9,
          [](const ProcessTotal& total, text::Units units) {
            return text::format_bytes(figure(total.sum), units);
          },
          less<figure>};
}

template <std::size_t field>
const std::string& part_of(const Process& process) {
  return process.job.*kJobFields[field].value;
}

// Orders processes by a field of the job. Numbers are compared by value, so that rank 10 comes
// after rank 9.
template <std::size_t field>
bool part_less(const ProcessTotal& a, const ProcessTotal& b) {
  const std::string& one = part_of<field>(a.sum);
  const std::string& other = part_of<field>(b.sum);
  if constexpr (kJobFields[field].is_number) {
    if (one.size() != other.size()) return one.size() < other.size();
  }
  return one < other;
}

// Adds a column for each field of a job except the id, which has its own column JOB.
template <std::size_t... fields>
void add_parts(ProcessColumns& columns, std::index_sequence<fields...>) {
  constexpr std::array<std::string_view, kJobFields.size()> headers = {
      "JOB", "STEP", "PARTITION", "RANK", "RANKS", "POD", "POD UID", "NAMESPACE", "CONTAINER"};
  (columns.push_back({headers[fields + 1], text::Column::Align::left, 0, 0,
                      [](const ProcessTotal& total, text::Units) {
                        return text::or_none(part_of<fields + 1>(total.sum));
                      },
                      part_less<fields + 1>, false, true}),
   ...);
}

ProcessColumn* find_column(ProcessColumns& columns, std::string_view header) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const auto& column) { return column.header == header; });
  return found == columns.end() ? nullptr : &*found;
}

// Returns the devices of a process: "0-3", "0x1f00a", or "0?" if the device is assumed.
std::string where(const model::Snapshot& snapshot, const ProcessTotal& total) {
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> parts;
  bool shared = false;
  for (const std::uint32_t i : total.devices) {
    const model::Device& device = snapshot.devices[i];
    numbers.push_back(device.id);
    parts.push_back(text::format_device_briefly(device));
    shared = shared || device.shares_number;
  }
  return (shared ? text::join(parts, ",") : format_ids(numbers)) +
         (total.sum.supposed_device ? "?" : "");
}

std::uint64_t living_in(const std::vector<ProcessTotal>& totals) {
  return static_cast<std::uint64_t>(
      std::count_if(totals.begin(), totals.end(),
                    [](const auto& total) { return total.sum.state == State::alive; }));
}

// Returns the name of a column as the user types it on the command line, such as "l1_buf".
std::string name_to_type(const ProcessColumn& column) {
  std::string name(column.header);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == ' ' ? '_' : static_cast<char>(std::tolower(c));
  });
  return name;
}

// Returns the columns that the user chose. A narrow terminal drops none of these columns.
ProcessColumns chosen_columns(const std::vector<std::size_t>& chosen,
                              const std::vector<ProcessTotal>& totals) {
  const ProcessColumns all = process_columns(totals);
  ProcessColumns columns;
  for (const std::size_t index : chosen) {
    columns.push_back(all[index]);
    columns.back().drop = 0;
    columns.back().optional = false;
  }
  return columns;
}

// Sorts the living processes before the dead processes, then by `column`. Sizes and counts are in
// descending order, all other columns in ascending order. Sizes and counts are the right-aligned
// columns except PID.
void sort_by(const ProcessColumn& column, std::vector<ProcessTotal>& totals) {
  const bool descending = column.align == text::Column::Align::right && column.header != "PID";
  std::stable_sort(totals.begin(), totals.end(), [&](const auto& a, const auto& b) {
    if (a.sum.state != b.sum.state) return a.sum.state == State::alive;
    return descending ? column.less(b, a) : column.less(a, b);
  });
}

}  // namespace

ProcessColumns process_columns(const std::vector<ProcessTotal>& totals) {
  using enum text::Column::Align;
  using Total = const ProcessTotal&;
  ProcessColumns columns = {
      {"PID", right, 0, 7, pid_text, less<pid_of>},
      {"USER", left, 5, 0, user_text, less<&Process::user>},
      {"STATE", left, 9, 5, state_text, less<&Process::state>},
      {"DEV", left, 0, 4, [](Total t, text::Units) { return t.where; },
       [](Total a, Total b) { return a.devices < b.devices; }},
      size_column<used<Kind::dram>>("DRAM", 0),
      size_column<used<Kind::l1>>("L1 BUF", 1),
      size_column<used<Kind::l1_small>>("L1_SMALL", 10),
      {"CB", right, 0, 9,
       [](Total t, text::Units units) {
         return text::mark_estimate(text::format_bytes(t.sum.used(Kind::cb), units),
                                    t.sum.cb_estimate.value_or(false));
       },
       less<used<Kind::cb>>},
      {"KERNELS", right, 2, 9,
       [](Total t, text::Units units) {
         return text::mark_estimate(text::format_bytes(t.sum.used(Kind::kernel), units),
                                    t.sum.kernels_estimated_bytes.value_or(0) > 0);
       },
       less<used<Kind::kernel>>},
      size_column<used<Kind::trace>>("TRACE", 7),
      {"ALLOCS", right, 6, 6,
       [](Total t, text::Units) { return text::format_count(allocations_of(t.sum)); },
       less<allocations_of>},
      {"SOURCE", left, 8, 8,
       [](Total t, text::Units) { return std::string(name_of(t.sum.source)); },
       less<&Process::source>},
      {"JOB", left, 4, 0, job_text, less<job_of>, true},
  };
  add_parts(columns, std::make_index_sequence<kJobFields.size() - 1>());
  columns.push_back({"COMMAND", left, 0, 0, [](Total t, text::Units) { return command_of(t.sum); },
                     less<command_of>});
  const bool all_tracked = std::all_of(totals.begin(), totals.end(), [](const auto& total) {
    return total.sum.state == State::alive && total.sum.not_tracked.empty();
  });
  if (!all_tracked) find_column(columns, "STATE")->drop = 0;
  return columns;
}

ProcessColumns usual_columns(const std::vector<ProcessTotal>& totals) {
  ProcessColumns columns = process_columns(totals);
  std::erase_if(columns, [](const ProcessColumn& column) { return column.only_asked; });
  return columns;
}

std::vector<text::TableCell> process_cells(const ProcessColumns& columns, const ProcessTotal& total,
                                           text::Units units) {
  std::vector<text::TableCell> cells;
  const text::Color color = total.sum.state == State::dead ? text::Color::red : text::Color::plain;
  for (const ProcessColumn& column : columns) {
    cells.push_back({column.text(total, units), color});
    if (color == text::Color::plain && column.header == "STATE") {
      cells.back().color = total.sum.not_tracked.empty() ? text::Color::green : text::Color::yellow;
    }
  }
  return cells;
}

std::string command_of(const Process& process) {
  if (process.command.empty()) {
    return process.name.empty() ? std::string(text::kUnknown) : process.name;
  }
  const std::size_t program_end = process.command.find(' ');
  const std::size_t slash = process.command.substr(0, program_end).rfind('/');
  return slash == std::string::npos ? process.command : process.command.substr(slash + 1);
}

std::vector<ProcessTotal> process_totals(const model::Snapshot& snapshot) {
  std::vector<ProcessTotal> totals;
  std::map<Identity, std::size_t> places;  // index in `totals` of each process
  for (std::uint32_t i = 0; i < snapshot.devices.size(); ++i) {
    for (const Process& process : snapshot.devices[i].processes) {
      const auto [place, is_new] = places.try_emplace(identity_of(process), totals.size());
      if (is_new) {
        totals.push_back({process, {i}, {}});
        continue;
      }
      ProcessTotal* const known = &totals[place->second];
      merge(known->sum.kinds, process.kinds);
      if (process.kernels_estimated_bytes) {
        std::uint64_t& estimated = known->sum.kernels_estimated_bytes.emplace(
            known->sum.kernels_estimated_bytes.value_or(0));
        estimated = saturating_add(estimated, *process.kernels_estimated_bytes);
      }
      if (process.cb_estimate) {
        known->sum.cb_estimate = known->sum.cb_estimate.value_or(false) || *process.cb_estimate;
      }
      known->sum.supposed_device |= process.supposed_device;
      if (known->devices.back() != i) known->devices.push_back(i);
    }
  }
  for (ProcessTotal& total : totals) total.where = where(snapshot, total);
  std::stable_sort(totals.begin(), totals.end(), [](const auto& a, const auto& b) {
    if (a.sum.state != b.sum.state) return a.sum.state == State::alive;
    return held_bytes(a.sum) > held_bytes(b.sum);
  });
  return totals;
}

std::uint64_t living_processes(const model::Snapshot& snapshot) {
  return living_in(process_totals(snapshot));
}

Result<std::vector<std::size_t>> parse_process_columns(std::string_view text) {
  std::vector<std::size_t> columns;
  for (const std::string_view name : text::split(text)) {
    const Result<std::size_t> column = parse_process_sort(name);
    if (!column) return column.error();
    columns.push_back(*column);
  }
  if (columns.empty()) return parse_process_sort("").error();
  return columns;
}

std::vector<std::string> process_sort_names() {
  std::vector<std::string> names;
  for (const ProcessColumn& column : process_columns({})) names.push_back(name_to_type(column));
  return names;
}

Result<std::size_t> parse_process_sort(std::string_view text) {
  if (text == "l1") text = "l1_buf";  // would be ambiguous, because "l1_small" begins with it too
  const std::vector<std::string> names = process_sort_names();
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return i;
    if (!text.empty() && names[i].starts_with(text)) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  return Error{fmt::format("must be one of {}", text::join(names, ", "))};
}

std::string process_text(const model::Snapshot& snapshot, const ProcessChoice& choice,
                         const text::TextOptions& options) {
  std::vector<ProcessTotal> totals = process_totals(snapshot);
  const std::size_t all = totals.size();
  std::erase_if(totals,
                [&](const auto& total) { return !selection::matches(choice.only, total.sum); });
  if (totals.empty()) return {};
  if (choice.sort) sort_by(process_columns(totals)[*choice.sort], totals);
  const std::uint64_t dead = totals.size() - living_in(totals);
  const bool all_ttmem = std::all_of(totals.begin(), totals.end(), [](const auto& total) {
    return total.sum.source == model::Source::ttmem;
  });
  ProcessColumns columns = usual_columns(totals);
  find_column(columns, "SOURCE")->drop = all_ttmem ? 10 : 3;
  if (!choice.columns.empty()) columns = chosen_columns(choice.columns, totals);
  std::vector<text::Column> shapes;
  for (const ProcessColumn& column : columns) {
    shapes.push_back(
        {std::string(column.header), column.align, column.drop,
         &column == &columns.back() ? text::Column::Cut::end : text::Column::Cut::never,
         column.optional});
  }
  text::Table table(std::move(shapes));
  for (const ProcessTotal& total : totals)
    table.add_row(process_cells(columns, total, options.units));
  std::string text = table.render(0, options);
  if (std::any_of(totals.begin(), totals.end(), [](const auto& t) { return t.sum.foreign_pid; })) {
    text += text::wrapped(
        "PID A/B: process B of another pid namespace (a container), which is process A here; ? "
        "where the kernel does not tell.",
        0, text::Color::dim, options);
  }
  if (totals.size() < all) {
    text +=
        text::wrapped(fmt::format("{} of {} processes; the figures of a device are those of all.",
                                  totals.size(), all),
                      0, text::Color::dim, options);
  }
  const auto on_several = [](const auto& total) { return total.devices.size() > 1; };
  if (std::any_of(totals.begin(), totals.end(), on_several)) {
    text += text::wrapped("Sizes of a process: on all its devices together.", 0, text::Color::dim,
                          options);
  }
  const auto supposed = [](const auto& total) { return total.sum.supposed_device; };
  if (std::any_of(totals.begin(), totals.end(), supposed)) {
    text += text::wrapped(
        "DEV 0?: the process gives a number and not which chip it is; taken for the only chip "
        "with that number.",
        0, text::Color::dim, options);
  }
  if (dead > 0) {
    const bool in_region = std::any_of(totals.begin(), totals.end(), [](const auto& total) {
      return total.sum.state == State::dead && total.sum.source == model::Source::tt_metal;
    });
    text +=
        text::wrapped(plural(dead, "process is dead: what it held is not counted above;",
                             "processes are dead: what they held is not counted above;") +
                          " `ttmem clean` removes " + (dead == 1 ? "it" : "them") +
                          (in_region ? ", a row of tt-metal once no process uses that chip." : "."),
                      0, text::Color::red, options);
  }
  return text;
}

}  // namespace ttmem::views
