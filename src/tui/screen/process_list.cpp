// SPDX-License-Identifier: Apache-2.0
#include "tui/screen/process_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "tui/screen/glyphs.hpp"
#include "views/format.hpp"

namespace ttmem::tui {
namespace {

using model::Process;
using views::ProcessTotal;

// Sizes take nine columns: the table keeps its shape while figures change.
struct Column {
  std::string_view header;
  views::Column::Align align = views::Column::Align::right;
  int drop = 0;
  int width = 0;
};
using enum views::Column::Align;

constexpr std::array<Column, kProcessColumns> kColumns = {{{"PID", right, 0, 7},
                                                           {"USER", left, 5},
                                                           {"STATE", left, 4, 5},
                                                           {"DEV", left, 0, 4},
                                                           {"DRAM", right, 0, 9},
                                                           {"L1 BUF", right, 1, 9},
                                                           {"CB", right, 0, 9},
                                                           {"KERNELS", right, 2, 9},
                                                           {"TRACE", right, 7, 9},
                                                           {"ALLOCS", right, 6, 6},
                                                           {"SOURCE", left, 8, 8},
                                                           {"COMMAND", left, 0, 0}}};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view state_of(const Process& p) {
  return p.state == model::State::dead ? "dead" : "alive";
}

bool matches(const ProcessTotal& total, const std::string& filter) {
  const Process& p = total.sum;
  const std::string all =
      fmt::format("{} {} {} {} {}", p.pid, p.user, state_of(p), views::command_of(p), p.name);
  return lower(all).find(filter) != std::string::npos;
}

// Below zero: a before b. Unknown is the least.
template <typename T>
int compare(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compare_by(std::uint32_t column, const ProcessTotal& a, const ProcessTotal& b) {
  const Process& p = a.sum;
  const Process& q = b.sum;
  switch (column) {
    case 0:
      return compare(p.pid, q.pid);
    case 1:
      return compare(p.user, q.user);
    case 2:
      return compare(p.state, q.state);
    case 3:
      return compare(a.devices, b.devices);
    case 4:
      return compare(p.used(Kind::dram), q.used(Kind::dram));
    case 5:
      return compare(views::l1_of(p), views::l1_of(q));
    case 6:
      return compare(p.used(Kind::cb), q.used(Kind::cb));
    case 7:
      return compare(p.used(Kind::kernel), q.used(Kind::kernel));
    case 8:
      return compare(p.used(Kind::trace), q.used(Kind::trace));
    case 9:
      return compare(live_allocations(p.kinds), live_allocations(q.kinds));
    case 10:
      return compare(p.source, q.source);
    default:
      return compare(views::command_of(p), views::command_of(q));
  }
}

// Headers padded to the width of their column, the sorted one with an arrow.
template <std::size_t N>
std::vector<std::string> headers_of(const std::array<Column, N>& columns, const Sorting* sorting,
                                    Display display) {
  const Glyphs& g = glyphs_of(display);
  std::vector<std::string> headers;
  for (std::uint32_t i = 0; i < N; ++i) {
    std::string header(columns[i].header);
    auto width = static_cast<std::size_t>(columns[i].width);
    if (sorting != nullptr && sorting->column == i) {
      const std::string_view arrow = sorting->descending ? g.down : g.up;
      header += arrow;
      width += arrow.size() - 1;  // display cells
    }
    const std::string blanks(header.size() < width ? width - header.size() : 0, ' ');
    headers.push_back(columns[i].align == right ? blanks + header : header + blanks);
  }
  return headers;
}

template <std::size_t N>
Rows empty_rows(const std::array<Column, N>& columns, const std::array<int, N>& drops,
                const Sorting* sorting, Display display) {
  std::vector<std::string> headers = headers_of(columns, sorting, display);
  std::vector<views::Column> shaped;
  for (std::size_t i = 0; i < N; ++i) {
    shaped.push_back({headers[i], columns[i].align, drops[i], i + 1 == N});
  }
  return {views::Table(std::move(shaped)), {}, std::move(headers)};
}

template <std::size_t N>
std::array<int, N> drops_of(const std::array<Column, N>& columns) {
  std::array<int, N> drops{};
  for (std::size_t i = 0; i < N; ++i) drops[i] = columns[i].drop;
  return drops;
}

}  // namespace

std::string_view process_column(std::uint32_t column) { return kColumns[column].header; }

ProcessKey key_of(const Process& process) { return {process.pid, process.state}; }

std::vector<ProcessTotal> process_rows(const model::Snapshot& snapshot, const ViewState& state) {
  std::vector<ProcessTotal> rows = views::process_totals(snapshot);
  const std::string filter = lower(state.filter);
  std::erase_if(rows, [&](const ProcessTotal& total) {
    const bool elsewhere =
        state.only_device && std::find(total.devices.begin(), total.devices.end(),
                                       *state.only_device) == total.devices.end();
    return elsewhere || (!filter.empty() && !state.opened && !matches(total, filter));
  });
  std::stable_sort(rows.begin(), rows.end(), [&](const ProcessTotal& a, const ProcessTotal& b) {
    const int order = compare_by(state.sorting.column, a, b);
    return state.sorting.descending ? order > 0 : order < 0;
  });
  return rows;
}

int selected_row(const std::vector<ProcessTotal>& rows, const ViewState& state) {
  for (std::size_t i = 0; state.selected && i < rows.size(); ++i) {
    if (key_of(rows[i].sum) == *state.selected) return static_cast<int>(i);
  }
  return 0;
}

Rows process_table(const std::vector<ProcessTotal>& rows, int first, int count,
                   const Sorting* sorting, Display display) {
  std::array<int, kProcessColumns> drops = drops_of(kColumns);
  const bool dead = std::any_of(rows.begin(), rows.end(), [](const ProcessTotal& total) {
    return total.sum.state == model::State::dead;
  });
  drops[2] = dead ? 0 : 9;  // the same in all rows: dropped first
  Rows result = empty_rows(kColumns, drops, sorting, display);
  const int end = std::min(static_cast<int>(rows.size()), first + count);
  for (int i = first; i < end; ++i) {
    const ProcessTotal& total = rows[static_cast<std::size_t>(i)];
    result.table.add_row(views::process_cells(total));
    result.styles.push_back(total.sum.state == model::State::dead ? Style{Ink::bad} : Style{});
  }
  return result;
}

namespace {

constexpr std::array<Column, kAllocationColumns> kOfAllocations = {{{"KIND", left, 0, 8},
                                                                    {"DEV", right, 4, 3},
                                                                    {"ADDRESS", right, 0, 10},
                                                                    {"SIZE", right, 0, 9},
                                                                    {"PHYSICAL", right, 0, 9},
                                                                    {"PER BANK", right, 3, 9},
                                                                    {"BANKS", right, 2, 5},
                                                                    {"AGE", right, 1, 6},
                                                                    {"LABEL", left, 0, 0}}};

std::string label_of(const model::Allocation& a) {
  std::string label = a.label;
  if (a.persistent) label += label.empty() ? "(persistent)" : " (persistent)";
  if (a.estimate) label += label.empty() ? "(estimate)" : " (estimate)";
  return label;
}

std::string address_of(const model::Allocation& a) {
  return a.address ? views::format_hex(*a.address) : std::string(views::kUnknown);
}

template <auto kFigure>
int order_of(const model::Allocation& a, const model::Allocation& b) {
  return compare(a.*kFigure, b.*kFigure);
}

using A = model::Allocation;
constexpr std::array<int (*)(const A&, const A&), kAllocationColumns> kOrders = {
    order_of<&A::kind>,  order_of<&A::device>,         order_of<&A::address>,
    order_of<&A::bytes>, order_of<&A::physical_bytes>, order_of<&A::bytes_per_bank>,
    order_of<&A::banks>, order_of<&A::age_ns>,         order_of<&A::label>};

bool matches(const model::Allocation& a, const std::string& filter) {
  return fmt::format("{} {} {}", name_of(a.kind), address_of(a), lower(label_of(a))).find(filter) !=
         std::string::npos;
}

}  // namespace

std::string_view allocation_column(std::uint32_t column) { return kOfAllocations[column].header; }

AllocationRows allocation_rows(const model::Snapshot& snapshot, const ViewState& state) {
  AllocationRows list;
  if (!state.opened) return list;
  const auto wanted = [&](const auto& item) {
    return item.pid == state.opened->pid && item.state == state.opened->state &&
           item.device < snapshot.devices.size() &&
           (!state.only_device || snapshot.devices[item.device].id == *state.only_device);
  };
  const std::string filter = lower(state.filter);
  for (const model::Allocation& allocation : snapshot.allocations) {
    if (!wanted(allocation) || (!filter.empty() && !matches(allocation, filter))) continue;
    list.rows.push_back(&allocation);
  }
  for (const model::Program& program : snapshot.programs) {
    if (!wanted(program)) continue;
    ++list.programs;
    list.cbs += program.cbs.size();
  }
  return list;
}

Rows allocation_table(const model::Snapshot& snapshot, AllocationRows& list, int first, int count,
                      const Sorting& sorting, Display display) {
  Rows result = empty_rows(kOfAllocations, drops_of(kOfAllocations), &sorting, display);
  const auto before = [&](const model::Allocation* a, const model::Allocation* b) {
    const int order = kOrders[std::min(sorting.column, kAllocationColumns - 1)](*a, *b);
    if (order != 0) return sorting.descending ? order > 0 : order < 0;
    return a < b;  // the order of the snapshot, so that equal rows do not move
  };
  const auto rows = static_cast<int>(list.rows.size());
  const int begin = std::clamp(first, 0, rows);
  const int end = std::clamp(first + count, begin, rows);
  // Sorts only what is visible: there may be a hundred thousand.
  std::nth_element(list.rows.begin(), list.rows.begin() + begin, list.rows.end(), before);
  std::partial_sort(list.rows.begin() + begin, list.rows.begin() + end, list.rows.end(), before);
  for (int i = begin; i < end; ++i) {
    const model::Allocation& a = *list.rows[static_cast<std::size_t>(i)];
    result.table.add_row({{std::string(name_of(a.kind))},
                          {fmt::format("{}", snapshot.devices[a.device].id)},
                          {address_of(a)},
                          {views::format_bytes(a.bytes)},
                          {views::format_bytes(a.physical_bytes)},
                          {views::format_bytes(a.bytes_per_bank)},
                          {a.banks ? fmt::format("{}", *a.banks) : std::string(views::kUnknown)},
                          {views::format_age(a.age_ns)},
                          {label_of(a)}});
    result.styles.push_back(a.state == model::State::dead ? Style{Ink::bad} : Style{});
  }
  return result;
}

}  // namespace ttmem::tui
