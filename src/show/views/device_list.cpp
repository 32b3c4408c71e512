// SPDX-License-Identifier: Apache-2.0
#include "show/views/device_list.hpp"

#include <utility>
#include <vector>

#include "show/views/device_fields.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::views {

std::string not_complete_text(const model::Snapshot& snapshot, const text::TextOptions& options) {
  std::string text;
  for (const std::string& sentence : snapshot.unread) {
    const std::string_view begin = snapshot.devices.empty() ? "" : "At least (>=): ";
    text += text::wrapped(std::string(begin) + text::printable(sentence, options.unicode), 0,
                          text::Color::yellow, options);
  }
  return text;
}

std::string no_device_text(const model::Snapshot& snapshot, const text::TextOptions& options) {
  if (snapshot.blind()) {
    return text::wrapped("Nothing was seen, which does not mean that nothing is there:", 0,
                         text::Color::plain, options) +
           not_complete_text(snapshot, options);
  }
  return text::wrapped(
      "No process uses a device right now. Try `ttmem demo` in another terminal, or start your "
      "program with `ttmem run -- CMD`. `ttmem doctor` says what could be missing.",
      0, text::Color::plain, options);
}

std::string device_list_text(const model::Snapshot& snapshot, const text::TextOptions& options) {
  if (snapshot.devices.empty()) return no_device_text(snapshot, options);
  using enum text::Column::Align;
  static_assert(kIdentityColumns.size() == 5, "a heading for each, in their order");
  text::Table table({{"DEV"}, {"UID", left}, {"BUS ID", left}, {"BOARD", left}, {"ARCH", left}});
  for (const model::Device& device : snapshot.devices) {
    std::vector<text::TableCell> cells;
    cells.reserve(kIdentityColumns.size());
    for (const std::string_view column : kIdentityColumns) {
      cells.push_back({text_of(field_of_column(column).value(device), text::kUnknown)});
    }
    table.add_row(std::move(cells));
  }
  return table.render(0, options);
}

}  // namespace ttmem::views
