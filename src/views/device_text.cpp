// SPDX-License-Identifier: Apache-2.0
#include "views/device_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "views/bar.hpp"
#include "views/device_layout.hpp"
#include "views/device_rows.hpp"
#include "views/format.hpp"

namespace ttmem::views {
namespace {

std::string title_text(const model::Device& device, const TextOptions& options) {
  const DeviceTitle title = device_title(device);
  std::vector<std::string> parts;
  for (const std::string& fact : title.facts) parts.push_back(printable(fact, options.unicode));
  parts.insert(parts.end(), title.counts.begin(), title.counts.end());
  parts.push_back(title.uid);
  Line line(options);
  line.add(title.name + ":", Color::bold).add(" ");
  return line.add(joined_to_fit(parts, line.room())).finish();
}

// Right-aligned, so that the size follows after one blank.
std::string label_text(const DeviceRow& row, const RowLayout& at) {
  return fmt::format("{:>{}}: ", row.name, at.size - 2);
}

// A clash, or anomalies: all notes, in as many lines as they need.
std::string trouble_text(const DeviceRow& row, const RowLayout& at, const TextOptions& options) {
  std::string words = row.size + (row.size.empty() ? "" : "  ");
  for (const Note& note : row.notes) words += (&note == &row.notes[0] ? "" : ", ") + note.text;
  return wrapped(words, static_cast<std::size_t>(at.size), color_of(row.tone), options,
                 label_text(row, at));
}

// Label, size, bar, share of the capacity, notes.
std::string row_text(const DeviceRow& row, const TextOptions& options) {
  const RowLayout at = table_layout(static_cast<int>(options.width));
  if (row.is_words() && row.tone != Tone::none) return trouble_text(row, at, options);
  Line line(options);
  line.add(label_text(row, at));
  line.add(row.size, row.size == kUnknown ? Color::dim : Color::bold);
  line.pad_to(static_cast<std::size_t>(at.bar));
  if (!row.is_words() && row.is_known()) {
    const bool whole = !row.is_part() && row.share();
    add_bar(line, static_cast<std::size_t>(at.cells), row.piece(), whole, options);
    line.add(fmt::format("{:>{}}", format_share(row.share()), at.share_end() - at.bar - at.cells),
             whole ? color_of(row.tone) : Color::dim);
    line.add("  ");
  }
  return line.add(notes_to_fit(row.notes, line.room()), Color::dim).finish();
}

}  // namespace

std::string device_text(const model::Device& device, Detail detail, const TextOptions& options) {
  std::string text = title_text(device, options);
  for (const DeviceRow& row : device_rows(device)) {
    if (detail == Detail::full || !row.minor) text += row_text(row, options);
  }
  return text;
}

}  // namespace ttmem::views
