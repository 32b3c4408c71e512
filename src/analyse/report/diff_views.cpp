// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/diff_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "analyse/report/limit.hpp"
#include "base/safe_text.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::report {
namespace {

using Json = nlohmann::ordered_json;
using text::Color;
using text::Column;
using text::Units;

std::string figure_text(const FigureDiff& figure, const std::optional<FigureRange>& range,
                        Units units) {
  if (!range) return std::string(text::kUnknown);
  const std::int64_t value = shown_bound(*range);
  return words_before_bound(*range) +
         (figure.is_bytes ? text::format_signed_bytes(value, units) : fmt::format("{}", value));
}

std::string signed_text(std::int64_t bytes, Units units) {
  return (bytes > 0 ? "+" : "") + text::format_signed_bytes(bytes, units);
}

// Formats a change, for example as "+4.00 MiB, +2.1%". Returns "=" if nothing changed.
std::string change_text(const FigureDiff& figure, Units units) {
  if (!figure.change()) return std::string(text::kUnknown);
  const std::int64_t change = *figure.change();
  if (change == 0) return "=";
  std::string text = figure.is_bytes ? signed_text(change, units) : fmt::format("{:+}", change);
  if (const std::int64_t before = shown_bound(*figure.before); before != 0) {
    const double percent =
        100.0 * static_cast<double>(change) / std::abs(static_cast<double>(before));
    text += fmt::format(", {:+.{}f}%", percent, std::abs(percent) < 0.1 ? 3 : 1);
  }
  return text;
}

// Returns red for a worse and green for a better figure. A higher value is worse, except for
// figures of free memory.
Color color_of(const FigureDiff& figure) {
  const std::int64_t change = figure.change().value_or(0);
  if (change == 0) return Color::plain;
  const bool left = std::string_view(figure.name).ends_with(".min");
  return (change > 0) != left ? Color::red : Color::green;
}

std::string origin(const HolderChange& change) {
  if (change.shared) return "(shared by programs of several names)";
  return text::origin_or_none(change.scope, change.label);
}

// Formats the sum and the number of allocations, whose sizes may differ: "4.00 MiB (4)".
std::string held_text(std::uint64_t bytes, std::uint64_t count, Units units) {
  if (count == 0) return "-";
  return fmt::format("{} ({})", text::format_bytes(model::Bytes(bytes), units), count);
}

std::string figures_table(const Diff& diff, const text::TextOptions& options) {
  using enum Column::Align;
  text::Table table({{"FIGURE", left}, {"OLD"}, {"NEW"}, {"CHANGE"}});
  for (const FigureDiff& figure : diff.figures) {
    if (!figure.before && !figure.now) continue;
    table.add_row({{figure.name},
                   {figure_text(figure, figure.before, options.units)},
                   {figure_text(figure, figure.now, options.units)},
                   {change_text(figure, options.units), color_of(figure)}});
  }
  return table.render(2, options);
}

constexpr const char* kNotAllSeen =
    "Events were lost: the contents of the peaks are those of the fullest moments that were seen.";

std::string made_of(const char* memory) {
  return fmt::format("What the {} peak of the fullest device is made of", memory);
}

std::string rest(std::size_t all, std::size_t top) {
  return all > top ? fmt::format("and {} more", all - top) : std::string();
}

std::string changes_table(const char* memory, const std::vector<HolderChange>& changes,
                          std::size_t top, const text::TextOptions& options) {
  using enum Column::Align;
  const std::string title = made_of(memory);
  if (changes.empty()) return text::Line(options).add(title + ": the same", Color::bold).finish();
  text::Table table({{"", left},
                     {"CHANGE"},
                     {"OLD"},
                     {"NEW"},
                     {"KIND", left},
                     {"SCOPE/LABEL", left, 0, Column::Cut::middle}});
  for (std::size_t i = 0; i < std::min(top, changes.size()); ++i) {
    const HolderChange& change = changes[i];
    table.add_row({{name_of(change.type)},
                   {signed_text(change.bytes(), options.units),
                    change.bytes() > 0 ? Color::red : Color::green},
                   {held_text(change.before_bytes, change.before_count, options.units)},
                   {held_text(change.now_bytes, change.now_count, options.units)},
                   {std::string(name_of(change.kind))},
                   {origin(change)}});
  }
  std::string text =
      text::Line(options).add(title, Color::bold).finish() + table.render(2, options);
  if (const std::string more = rest(changes.size(), top); !more.empty()) {
    text += text::Line(options).add("  " + more, Color::dim).finish();
  }
  return text;
}

// Returns the text as a code span in a cell of a table. Replaces characters that would end the span
// or the cell. HTML and links have no effect in a span.
std::string code(const std::string& text) {
  std::string span = "`";
  for (const char c : safe_text(text)) {
    // Escapes a bar with a backslash. If a backslash comes before the bar, adds a blank between
    // both, because two backslashes would not escape the bar.
    if (c == '|') span += span.ends_with('\\') ? " \\" : "\\";
    span += c == '`' ? '\'' : c;
  }
  return span + "`";
}

std::string markdown_changes(const char* memory, const std::vector<HolderChange>& changes,
                             std::size_t top) {
  const std::string title = "\n" + made_of(memory);
  if (changes.empty()) return title + ": the same.\n";
  std::string text = title +
                     ":\n\n| | change | old | new | kind | scope/label |\n"
                     "|---|---:|---:|---:|---|---|\n";
  for (std::size_t i = 0; i < std::min(top, changes.size()); ++i) {
    const HolderChange& change = changes[i];
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name_of(change.type),
                        signed_text(change.bytes(), Units::automatic),
                        held_text(change.before_bytes, change.before_count, Units::automatic),
                        held_text(change.now_bytes, change.now_count, Units::automatic),
                        name_of(change.kind), code(origin(change)));
  }
  const std::string more = rest(changes.size(), top);
  return more.empty() ? text : text + "\n" + more + "\n";
}

Json value_of(std::optional<std::int64_t> value) { return value ? Json(*value) : Json(nullptr); }
Json value_of(const std::optional<FigureRange>& range) {
  return range ? Json(shown_bound(*range)) : Json(nullptr);
}
bool is_exact(const std::optional<FigureRange>& range) { return range && range->is_exact(); }

Json figure_json(const FigureDiff& figure) {
  return {{"name", figure.name},
          {"old", value_of(figure.before)},
          {"new", value_of(figure.now)},
          {"change", value_of(figure.change())},
          {"old_exact", is_exact(figure.before)},
          {"new_exact", is_exact(figure.now)}};
}

Json change_json(const HolderChange& change) {
  return {{"kind", name_of(change.kind)},
          {"scope", change.scope},
          {"label", change.label},
          {"shared", change.shared},
          {"old_bytes", change.before_bytes},
          {"old_count", change.before_count},
          {"new_bytes", change.now_bytes},
          {"new_count", change.now_count},
          {"change_bytes", change.bytes()}};
}

Json changes_json(const std::vector<HolderChange>& changes) {
  Json json = {{"added", Json::array()},
               {"gone", Json::array()},
               {"grown", Json::array()},
               {"shrunk", Json::array()},
               {"other_sizes", Json::array()}};
  for (const HolderChange& change : changes) {
    std::string key = name_of(change.type);
    std::replace(key.begin(), key.end(), ' ', '_');
    json[key].push_back(change_json(change));
  }
  return json;
}

}  // namespace

std::string diff_text(const Diff& diff, const DiffNames& names, const text::TextOptions& options) {
  std::string text =
      text::Line(options)
          .add(text::printable(fmt::format("old {}, new {}", names.before, names.now),
                               options.unicode),
               Color::bold)
          .finish();
  text += figures_table(diff, options);
  if (!diff.made_of_known) {
    return text + text::wrapped(
                      "one of them was recorded with --aggregate: what its peaks were made of is "
                      "not known",
                      2, Color::yellow, options);
  }
  if (!diff.all_seen) text += text::wrapped(kNotAllSeen, 2, Color::yellow, options);
  return text + changes_table("L1", diff.l1, names.top, options) +
         changes_table("DRAM", diff.dram, names.top, options);
}

std::string diff_markdown(const Diff& diff, const DiffNames& names) {
  std::string text =
      fmt::format("### Device memory: {} to {}\n\n", code(names.before), code(names.now));
  for (const std::string& failed : names.failed) text += fmt::format("- **{}**\n", failed);
  if (!names.failed.empty()) text += "\n";
  text += "| figure | old | new | change |\n|---|---:|---:|---:|\n";
  for (const FigureDiff& figure : diff.figures) {
    if (!figure.before && !figure.now) continue;
    text += fmt::format("| {} | {} | {} | {} |\n", figure.name,
                        figure_text(figure, figure.before, Units::automatic),
                        figure_text(figure, figure.now, Units::automatic),
                        change_text(figure, Units::automatic));
  }
  if (!diff.made_of_known) return text;
  if (!diff.all_seen) text += fmt::format("\n{}\n", kNotAllSeen);
  return text + markdown_changes("L1", diff.l1, names.top) +
         markdown_changes("DRAM", diff.dram, names.top);
}

std::string diff_json(const Diff& diff, const DiffNames& names, text::JsonLayout layout) {
  Json figures = Json::array();
  for (const FigureDiff& figure : diff.figures) figures.push_back(figure_json(figure));
  const Json json = {{"schema", "ttmem.diff.v1"},
                     {"old", names.before},
                     {"new", names.now},
                     {"figures", std::move(figures)},
                     {"dram", diff.made_of_known ? changes_json(diff.dram) : Json(nullptr)},
                     {"l1", diff.made_of_known ? changes_json(diff.l1) : Json(nullptr)},
                     {"failed", names.failed}};
  return json_text(json, text::indent_of(layout)) + "\n";
}

}  // namespace ttmem::report
