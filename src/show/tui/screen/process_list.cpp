// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/process_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "show/tui/screen/filter.hpp"
#include "show/tui/screen/glyphs.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Allocation;
using model::Process;
using views::ProcessTotal;
using enum text::Column::Align;

bool matches(const ProcessTotal& total, const std::string& filter) {
  const Process& p = total.sum;
  std::string all = fmt::format("{} {} {} {} {}", text::format_pid(p), p.user, name_of(p.state),
                                views::command_of(p), p.name);
  for (const JobField& field : kJobFields) all += " " + p.job.*field.value;
  return contains(all, filter);
}

bool is_optional(const views::ProcessColumn& column) { return column.optional; }
template <typename Other>
bool is_optional(const Other&) {
  return false;
}

// Returns a table without rows. Headers are padded to the minimum width of their column, so that
// columns do not move when figures change. The header of the sorted column has an arrow. `cut`
// applies to the last column; no other column is cut.
template <typename Columns>
Rows empty_rows(const Columns& columns, const Sorting* sorting, Display display,
                text::Column::Cut cut) {
  const Glyphs& g = glyphs_of(display);
  std::vector<text::Column> shapes;
  std::vector<std::string> headers;
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    std::string header(columns[i].header);
    auto width = static_cast<std::size_t>(columns[i].width);
    if (sorting != nullptr && sorting->column == i) {
      const std::string_view arrow = sorting->descending ? g.down : g.up;
      header += arrow;
      // The width counts bytes here: the arrow has several bytes, but takes only one display cell.
      width += arrow.size() - 1;
    }
    const std::string blanks(header.size() < width ? width - header.size() : 0, ' ');
    headers.push_back(columns[i].align == right ? blanks + header : header + blanks);
    shapes.push_back({headers[i], columns[i].align, columns[i].drop,
                      i + 1 == columns.size() ? cut : text::Column::Cut::never,
                      is_optional(columns[i])});
  }
  return {text::Table(std::move(shapes)), {}, std::move(headers)};
}

}  // namespace

std::string_view process_column(std::uint32_t column) {
  return views::usual_columns({})[column].header;
}

std::vector<ProcessTotal> process_rows(const model::Snapshot& snapshot, const ViewState& state) {
  std::vector<ProcessTotal> rows = views::process_totals(snapshot);
  std::erase_if(rows, [&](const ProcessTotal& total) {
    const bool elsewhere =
        state.only_device &&
        std::none_of(total.devices.begin(), total.devices.end(), [&](std::uint32_t device) {
          return has_name(snapshot.devices[device], *state.only_device);
        });
    return elsewhere || (!state.opened && !matches(total, state.filter));
  });
  const std::uint32_t column = std::min(state.sorting.column, kProcessColumns - 1);
  const auto less = views::usual_columns(rows)[column].less;
  std::stable_sort(rows.begin(), rows.end(), [&](const ProcessTotal& a, const ProcessTotal& b) {
    return state.sorting.descending ? less(b, a) : less(a, b);
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
  const views::ProcessColumns columns = views::usual_columns(rows);
  Rows result = empty_rows(columns, sorting, display, text::Column::Cut::end);
  const int end = std::min(static_cast<int>(rows.size()), first + count);
  for (int i = first; i < end; ++i) {
    const ProcessTotal& total = rows[static_cast<std::size_t>(i)];
    result.table.add_row(views::process_cells(columns, total));
    result.styles.push_back(total.sum.state == model::State::dead ? Style{Ink::bad} : Style{});
  }
  return result;
}

namespace {

struct AllocationColumn {
  std::string_view header;
  text::Column::Align align;
  int drop;
  int width;
  bool (*less)(const Allocation& a, const Allocation& b);
};

template <auto figure>
bool less(const Allocation& a, const Allocation& b) {
  return a.*figure < b.*figure;
}

constexpr std::array<AllocationColumn, kAllocationColumns> kOfAllocations = {
    {{"KIND", left, 0, 8, less<&Allocation::kind>},
     {"DEV", right, 5, 3, less<&Allocation::device>},
     {"ADDRESS", right, 1, 10, less<&Allocation::address>},
     {"SIZE", right, 0, 9, less<&Allocation::bytes>},
     {"PHYSICAL", right, 0, 9, less<&Allocation::physical_bytes>},
     {"PER BANK", right, 4, 9, less<&Allocation::bytes_per_bank>},
     {"BANKS", right, 3, 5, less<&Allocation::banks>},
     {"AGE", right, 2, 6, less<&Allocation::age_ns>},
     {"LABEL", left, 0, 0, less<&Allocation::label>}}};

std::string label_of(const Allocation& a) {
  std::string label = model::origin_of(a.scope, a.label);
  if (a.persistent) label += label.empty() ? "(persistent)" : " (persistent)";
  if (a.estimate) label += label.empty() ? "(estimate)" : " (estimate)";
  return label;
}

std::string address_of(const Allocation& a) {
  return a.address ? text::format_hex(*a.address) : std::string(text::kUnknown);
}

bool matches(const Allocation& a, const std::string& filter) {
  return contains(fmt::format("{} {} {}", name_of(a.kind), address_of(a), label_of(a)), filter);
}

}  // namespace

std::string_view allocation_column(std::uint32_t column) { return kOfAllocations[column].header; }

AllocationRows allocation_rows(const model::Snapshot& snapshot, const ViewState& state) {
  AllocationRows list;
  if (!state.opened) return list;
  const auto is_shown = [&](std::uint32_t device) {
    return device < snapshot.devices.size() &&
           (!state.only_device || has_name(snapshot.devices[device], *state.only_device));
  };
  for (const Allocation& allocation : snapshot.allocations) {
    const auto devices = devices_of(allocation);
    const bool wanted = model::key_of(allocation) == *state.opened &&
                        std::any_of(devices.begin(), devices.end(), is_shown);
    if (!wanted || (!state.filter.empty() && !matches(allocation, state.filter))) continue;
    list.rows.push_back(&allocation);
  }
  for (const model::Program& program : snapshot.programs) {
    if (model::key_of(program) != *state.opened || !is_shown(program.device)) continue;
    ++list.programs;
    list.cbs += program.cbs.size();
  }
  return list;
}

Rows allocation_table(const model::Snapshot& snapshot, AllocationRows& list, int first, int count,
                      const Sorting& sorting, Display display) {
  Rows result = empty_rows(kOfAllocations, &sorting, display, text::Column::Cut::middle);
  const auto less = kOfAllocations[std::min(sorting.column, kAllocationColumns - 1)].less;
  const auto before = [&](const Allocation* a, const Allocation* b) {
    if (less(*a, *b)) return !sorting.descending;
    if (less(*b, *a)) return sorting.descending;
    // If both rows are equal, keeps their order in the snapshot, so that equal rows do not move.
    return a < b;
  };
  const auto rows = static_cast<int>(list.rows.size());
  const int begin = std::clamp(first, 0, rows);
  const int end = std::clamp(first + count, begin, rows);
  // Sorts only the rows from `begin` to `end`, because a list may have a hundred thousand rows.
  std::nth_element(list.rows.begin(), list.rows.begin() + begin, list.rows.end(), before);
  std::partial_sort(list.rows.begin() + begin, list.rows.begin() + end, list.rows.end(), before);
  for (int i = begin; i < end; ++i) {
    const Allocation& a = *list.rows[static_cast<std::size_t>(i)];
    result.table.add_row({{std::string(name_of(a.kind))},
                          {text::format_devices(snapshot, a)},
                          {address_of(a)},
                          {text::format_bytes(a.bytes)},
                          {text::format_bytes(a.physical_bytes)},
                          {text::format_bytes(a.bytes_per_bank)},
                          {text::format_count(a.banks)},
                          {text::format_age(a.age_ns)},
                          {label_of(a)}});
    result.styles.push_back(a.state == model::State::dead ? Style{Ink::bad} : Style{});
  }
  return result;
}

}  // namespace ttmem::tui
