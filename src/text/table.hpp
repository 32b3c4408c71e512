// SPDX-License-Identifier: Apache-2.0
//
// The table printer: columns are as wide as their content, and shrink to fit the width of the
// terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/text.hpp"

namespace ttmem::text {

struct Column {
  enum class Align : std::uint8_t { left, right };
  enum class Cut : std::uint8_t { never, end, middle };

  std::string header;
  Align align = Align::right;
  // The order in which columns are dropped from a table that is too wide: a column with a higher
  // number is dropped earlier, and a column with 0 is never dropped.
  int drop = 0;
  // The place at which a cell that is too wide is cut. Only one column of a table may be cut. This
  // column is cut to no less than kMinFlexible cells (`end`) or kMinName cells (`middle`) before
  // other columns are dropped. Names are cut in the middle, because they often differ only at their
  // ends.
  Cut cut = Cut::never;
  bool optional = false;  // left out if all its cells are kNone (format.hpp)
};

struct TableCell {
  std::string text;
  Color color = Color::plain;
};

// Rows of cells under headers. The table makes the cells printable. Not thread-safe.
class Table {
 public:
  static constexpr std::size_t kMinFlexible = 12;
  static constexpr std::size_t kMinName = 24;

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row, which must have one cell for each column.
  void add_row(std::vector<TableCell> cells);
  // Returns the header and the rows; each line ends with a newline. If `options.shorten` is true,
  // drops and cuts columns so that no line is wider than `options.width`.
  [[nodiscard]] std::string render(std::size_t indent, const TextOptions& options) const;

 private:
  [[nodiscard]] bool is_left_out(std::size_t column) const;
  // Returns the width of each column in display cells; 0 for a column that is dropped or left out.
  [[nodiscard]] std::vector<std::size_t> layout(std::size_t width,
                                                const TextOptions& options) const;
  [[nodiscard]] std::string render_row(const std::vector<TableCell>& cells,
                                       const std::vector<std::size_t>& widths, std::size_t indent,
                                       const TextOptions& options) const;

  std::vector<Column> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

}  // namespace ttmem::text
