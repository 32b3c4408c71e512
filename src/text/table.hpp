// SPDX-License-Identifier: Apache-2.0
//
// The table printer: columns as wide as their content, made to fit the width of the terminal.
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
  // When the table is too wide, the column with the highest number is dropped first; 0: never.
  int drop = 0;
  // One column may be cut to what the others leave, down to kMinFlexible cells. Names, which often
  // differ only at their ends, are cut in the middle, down to kMinName cells.
  Cut cut = Cut::never;
  bool optional = false;  // left out when all its cells are kNone (format.hpp)
};

struct Cell {
  std::string text;
  Color color = Color::plain;
};

// Rows of cells under headers. Cells are made printable here. Not thread-safe.
class Table {
 public:
  static constexpr std::size_t kMinFlexible = 12;
  static constexpr std::size_t kMinName = 24;

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column.
  void add_row(std::vector<Cell> cells);
  // Header and rows, each line with its newline, none wider than the options say. Columns are
  // dropped and cut only when the options allow to shorten.
  [[nodiscard]] std::string render(std::size_t indent, const TextOptions& options) const;

 private:
  [[nodiscard]] bool is_left_out(std::size_t column) const;
  // Per column its display cells, 0 for one that is dropped or left out.
  [[nodiscard]] std::vector<std::size_t> layout(std::size_t width,
                                                const TextOptions& options) const;
  [[nodiscard]] std::string render_row(const std::vector<Cell>& cells,
                                       const std::vector<std::size_t>& widths, std::size_t indent,
                                       const TextOptions& options) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace ttmem::text
