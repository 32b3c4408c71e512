// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/explanation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyse/explain/wording.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::explain {
namespace {

using text::Color;
using text::TextOptions;

constexpr std::size_t kBarCells = 12;
constexpr std::size_t kListed = 5;

Color color_of(const Band& band) {
  if (band.in_the_way) return Color::red;
  switch (band.what) {
    case Band::What::held:
    case Band::What::mixed:
      return Color::blue;
    case Band::What::overlap:
      return Color::red;
    case Band::What::cbs:
      return Color::yellow;
    default:
      return Color::dim;
  }
}

std::string glyph_of(const Band& band, const TextOptions& options) {
  switch (band.what) {
    case Band::What::free:
      return options.unicode ? "·" : ".";
    case Band::What::region:
      return options.unicode ? "░" : ":";
    case Band::What::mixed:
      return options.unicode ? "▒" : "+";
    case Band::What::overlap:
      return options.unicode ? "▓" : "%";
    default:
      return options.unicode ? "█" : "#";
  }
}

std::string name_of_band(const Band& band) {
  return band.what == Band::What::free ? std::string("free") : band.who;
}

// Returns a bar whose length shows the size of the band relative to the largest band. The bar has
// at least one cell.
std::string bar_of(const Band& band, std::uint64_t largest, const TextOptions& options) {
  const double share = static_cast<double>(band.bytes()) / static_cast<double>(largest);
  const auto cells = static_cast<std::size_t>(std::lround(share * kBarCells));
  std::string bar;
  for (std::size_t i = 0; i < std::max<std::size_t>(cells, 1); ++i) bar += glyph_of(band, options);
  return bar;
}

std::string band_line(const Picture& picture, const Band& band, std::uint64_t largest,
                      const TextOptions& options) {
  constexpr std::size_t address_cells = 14;
  const bool is_asked = band.begin < picture.asked_end && band.end > picture.asked_begin;
  text::Line line(options);
  line.add(fmt::format("{:>{}} ", band.begin, address_cells));
  line.add(is_asked ? (options.unicode ? "▶" : ">") : " ", Color::red);
  line.add(bar_of(band, largest, options), color_of(band));
  line.pad_to(address_cells + 2 + kBarCells);
  line.add(
      fmt::format("{:>10}  ", text::format_bytes(band.bytes(), options.units, text::Scale::core)));
  const std::string mark = band.in_the_way ? "  < in the way" : "";
  const std::string who = text::printable(name_of_band(band), options.unicode);
  const std::size_t room = line.room();
  const std::size_t for_name = room > mark.size() ? room - mark.size() : 0;
  line.add(options.shorten ? text::cut_middle(who, for_name, options.unicode) : who,
           band.what == Band::What::free ? Color::dim : Color::plain);
  line.add(mark, Color::red);
  return line.finish();
}

std::string picture_text(const Picture& picture, const std::string& place,
                         const TextOptions& options) {
  if (picture.bands.empty()) return "";
  std::uint64_t largest = 1;
  for (const Band& band : picture.bands) largest = std::max(largest, band.bytes());
  std::string text = text::wrapped(
      fmt::format("{}, {}, each row from its lowest address up:", place, picture.title), 0,
      Color::bold, options);
  text += (text::Line(options).add(fmt::format("{:>14}", picture.bands.front().end), Color::dim))
              .finish();
  for (const Band& band : picture.bands) text += band_line(picture, band, largest, options);
  if (picture.asked_end > picture.asked_begin) {
    text += text::wrapped(
        fmt::format("{} where the request would have to go", options.unicode ? "▶" : ">"), 15,
        Color::dim, options);
  }
  return text + "\n";
}

std::string cores_of(const BufferHolder& holder) {
  return holder.cores ? text::plural(holder.cores->count(), "core", "cores") : "all banks";
}

std::string in_the_way_text(const Explanation& explanation, const TextOptions& options) {
  if (explanation.in_the_way.empty()) return "";
  using enum text::Column::Align;
  text::Table table({{"WHAT", left, 0, text::Column::Cut::middle},
                     {"KIND", left},
                     {"IN EACH BANK"},
                     {"ADDRESS"},
                     {"LIES ON", right, 2},
                     {"AGE", right, 1},
                     {"PID", right, 3}});
  const std::size_t listed = std::min(kListed, explanation.in_the_way.size());
  for (std::size_t i = 0; i < listed; ++i) {
    const BufferHolder& holder = explanation.in_the_way[i];
    table.add_row({{name_of(holder)},
                   {std::string(ttmem::name_of(holder.kind))},
                   {text::format_bytes(holder.bytes_per_bank, options.units, text::Scale::core)},
                   {std::to_string(holder.address)},
                   {cores_of(holder)},
                   {holder.age_ns ? text::format_age(*holder.age_ns) : ""},
                   {holder.pid != 0 ? std::to_string(holder.pid) : std::string()}});
  }
  const bool is_full = explanation.cause == Cause::unknown || explanation.cause == Cause::capacity;
  const char* title = is_full ? "Holds most:" : "In the way:";
  std::string text = text::wrapped(title, 0, Color::bold, options) + table.render(2, options);
  const std::uint64_t more = explanation.more_in_the_way + explanation.in_the_way.size() - listed;
  if (more > 0) {
    text += text::wrapped(fmt::format("and {} more", more), 2, Color::dim, options);
  }
  return text + "\n";
}

std::string suggestions_text(const Explanation& explanation, const TextOptions& options) {
  if (explanation.suggestions.empty()) return "";
  const bool is_any_tried =
      std::any_of(explanation.suggestions.begin(), explanation.suggestions.end(),
                  [](const Suggestion& suggestion) { return suggestion.tried; });
  std::string text = text::wrapped(
      is_any_tried ? "What would help, the cheapest first ([tried] on a model of the allocator):"
                   : "What would help, the cheapest first (not tried):",
      0, Color::bold, options);
  for (std::size_t i = 0; i < explanation.suggestions.size(); ++i) {
    const Suggestion& suggestion = explanation.suggestions[i];
    text += text::wrapped(
        text::printable(suggestion.text + (suggestion.tried ? " [tried]" : ""), options.unicode), 5,
        suggestion.tried ? Color::plain : Color::dim, options, fmt::format("  {}. ", i + 1));
  }
  return text + "\n";
}

std::string unknown_text(const Explanation& explanation, const TextOptions& options) {
  if (explanation.unknown.empty()) return "";
  std::string text = text::wrapped("Not known:", 0, Color::bold, options);
  for (const std::string& line : explanation.unknown) {
    text += text::wrapped(line, 4, Color::plain, options, "  - ");
  }
  return text + "\n";
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const TextOptions& options) {
  std::string text = text::wrapped(text::printable(explanation.sentence, options.unicode), 0,
                                   explanation.short_by ? Color::red : Color::plain, options) +
                     "\n";
  if (explanation.picture) {
    text += picture_text(*explanation.picture, explanation.place, options);
  } else if (!explanation.place.empty()) {
    text += text::wrapped(explanation.place, 0, Color::bold, options) + "\n";
  }
  text += in_the_way_text(explanation, options);
  text += suggestions_text(explanation, options);
  text += unknown_text(explanation, options);
  text.pop_back();  // removes the empty line at the end
  return text;
}

}  // namespace ttmem::explain
