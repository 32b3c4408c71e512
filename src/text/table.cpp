// SPDX-License-Identifier: Apache-2.0
#include "text/table.hpp"

#include <algorithm>
#include <cassert>

#include "text/format.hpp"

namespace ttmem::text {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeast = 4;  // minimum width of a cut column when no column is left to drop

std::size_t total_of(const std::vector<std::size_t>& widths) {
  std::size_t total = 0;
  for (std::size_t width : widths) total += width == 0 ? 0 : width + kGap;
  return total == 0 ? 0 : total - kGap;
}

// Returns the width to which a column may be cut before other columns are dropped.
std::size_t least_of(const Column& column) {
  return column.cut == Column::Cut::middle ? Table::kMinName : Table::kMinFlexible;
}

}  // namespace

void Table::add_row(std::vector<TableCell> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

bool Table::is_left_out(std::size_t column) const {
  return columns_[column].optional && std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) {
           return row[column].text == kNone;
         });
}

std::vector<std::size_t> Table::layout(std::size_t width, const TextOptions& options) const {
  std::vector<std::size_t> natural(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (is_left_out(c)) continue;
    natural[c] = std::max<std::size_t>(1, display_width(columns_[c].header));
    for (const auto& row : rows_) {
      natural[c] = std::max(natural[c], display_width(printable(row[c].text, options.unicode)));
    }
  }
  if (!options.shorten) return natural;
  std::vector<std::size_t> widths = natural;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].cut != Column::Cut::never)
      widths[c] = std::min(widths[c], least_of(columns_[c]));
  }
  while (total_of(widths) > width) {
    std::size_t victim = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const int threshold = victim < columns_.size() ? columns_[victim].drop : 0;
      if (widths[c] > 0 && columns_[c].drop > threshold) victim = c;
    }
    if (victim == columns_.size()) break;
    widths[victim] = 0;
  }
  const std::size_t used = total_of(widths);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].cut == Column::Cut::never || widths[c] == 0) continue;
    if (used <= width) {
      widths[c] = std::min(natural[c], widths[c] + width - used);
    } else {  // no column is left to drop
      widths[c] =
          std::max(std::min(widths[c], kLeast), widths[c] - std::min(widths[c], used - width));
    }
    break;
  }
  return widths;
}

std::string Table::render_row(const std::vector<TableCell>& cells,
                              const std::vector<std::size_t>& widths, std::size_t indent,
                              const TextOptions& options) const {
  Line line(options);
  line.pad_to(indent);
  bool first = true;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (widths[c] == 0) continue;
    if (!first) line.add(std::string(kGap, ' '));
    first = false;
    const auto shorten = columns_[c].cut == Column::Cut::middle ? cut_middle : cut;
    const std::string text =
        shorten(printable(cells[c].text, options.unicode), widths[c], options.unicode);
    const std::size_t begin = line.width();
    if (columns_[c].align == Column::Align::right) {
      line.pad_to(begin + widths[c] - display_width(text));
    }
    line.add(text, cells[c].color).pad_to(begin + widths[c]);
  }
  return line.finish();
}

std::string Table::render(std::size_t indent, const TextOptions& options) const {
  const std::size_t width = options.width > indent ? options.width - indent : 1;
  const std::vector<std::size_t> widths = layout(width, options);
  std::vector<TableCell> headers;
  for (const Column& column : columns_) headers.push_back({column.header, Color::dim});
  std::string result = render_row(headers, widths, indent, options);
  for (const auto& row : rows_) result += render_row(row, widths, indent, options);
  return result;
}

}  // namespace ttmem::text
