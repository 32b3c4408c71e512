// SPDX-License-Identifier: Apache-2.0
#include "report/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/format_bytes.hpp"

namespace ttmem::report {
namespace {

using Figure = std::optional<std::int64_t>;

void offer(Figure& best, const std::optional<Extreme>& extreme, bool highest) {
  if (!extreme) return;
  const bool better = !best || (highest ? extreme->bytes > *best : extreme->bytes < *best);
  if (better) best = extreme->bytes;
}

template <Kind kind>
Figure peak(const Report& report) {
  Figure best;
  for (const DeviceReport& device : report.devices) offer(best, device.peak[kind], true);
  return best;
}

template <Kind kind>
Figure least_free(const Report& report) {
  Figure best;
  for (const auto& device : report.devices) offer(best, device.least_largest_free[kind], false);
  return best;
}

Figure l1_peak(const Report& report) {
  Figure best;
  for (const DeviceReport& device : report.devices) offer(best, device.l1_peak, true);
  return best;
}

Figure headroom(const Report& report) {
  Figure best;
  for (const DeviceReport& device : report.devices) offer(best, device.least_headroom, false);
  return best;
}

Figure leak(const Report& report) { return static_cast<std::int64_t>(report.leak_bytes()); }
Figure lost(const Report& report) { return static_cast<std::int64_t>(report.lost_events); }

std::string known_names() {
  std::string names;
  for (const RunFigure& figure : run_figures()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", figure.name);
  }
  return names;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// How many bytes a unit has; none: there is no such unit.
std::optional<double> bytes_in(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 12> units = {{{"", 1},
                                                                          {"B", 1},
                                                                          {"KiB", 1024.0},
                                                                          {"MiB", 1048576.0},
                                                                          {"GiB", 1073741824.0},
                                                                          {"TiB", 1099511627776.0},
                                                                          {"K", 1024.0},
                                                                          {"M", 1048576.0},
                                                                          {"G", 1073741824.0},
                                                                          {"KB", 1e3},
                                                                          {"MB", 1e6},
                                                                          {"GB", 1e9}}};
  const auto* found = std::find_if(units.begin(), units.end(),
                                   [&](const auto& known) { return known.first == unit; });
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

// "+2%", "1.2MiB", "0".
bool parse_value(std::string_view text, Limit& limit) {
  limit.relative = text.starts_with('+') || text.starts_with('-');
  const double sign = text.starts_with('-') ? -1 : 1;
  if (limit.relative) text.remove_prefix(1);
  double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !std::isfinite(number) || number < 0) return false;
  const std::string_view unit =
      trimmed(text.substr(static_cast<std::size_t>(parsed.ptr - text.data())));
  limit.percent = unit == "%";
  const std::optional<double> bytes = limit.percent ? std::optional(1.0) : bytes_in(unit);
  if (!bytes) return false;
  limit.value = sign * number * *bytes;
  return true;
}

bool is_over(const Limit& limit, double figure, double bound) {
  if (limit.or_equal && figure == bound) return true;
  return limit.above ? figure > bound : figure < bound;
}

std::string value_text(const RunFigure& figure, std::int64_t value) {
  if (!figure.is_bytes) return fmt::format("{}", value);
  const auto size = format_bytes(static_cast<std::uint64_t>(std::llabs(value)));
  return (value < 0 ? "-" : "") + size;
}

// "+4096 bytes, +2.1%"
std::string difference(const RunFigure& figure, std::int64_t before, std::int64_t now) {
  std::string text = fmt::format("{:+}{}", now - before, figure.is_bytes ? " bytes" : "");
  if (before != 0) {
    text += fmt::format(", {:+.1f}%", 100.0 * static_cast<double>(now - before) /
                                          std::abs(static_cast<double>(before)));
  }
  return text;
}

}  // namespace

const std::vector<RunFigure>& run_figures() {
  static const std::vector<RunFigure> figures = {
      {"dram.peak", "DRAM in use", peak<Kind::dram>},
      {"l1.peak", "L1 in use: buffers, L1_SMALL, circular buffers, kernels", l1_peak},
      {"l1_buffers.peak", "L1 buffers", peak<Kind::l1>},
      {"l1_small.peak", "L1_SMALL buffers", peak<Kind::l1_small>},
      {"cb.peak", "circular buffers", peak<Kind::cb>},
      {"kernels.peak", "kernels", peak<Kind::kernel>},
      {"trace.peak", "trace buffers", peak<Kind::trace>},
      {"headroom.min", "least headroom of a core", headroom},
      {"dram.largest_free.min", "smallest largest free block of a DRAM bank",
       least_free<Kind::dram>},
      {"l1.largest_free.min", "the same of L1", least_free<Kind::l1>},
      {"leak", "allocations that were not freed", leak},
      {"lost", "events that were lost: a number, not bytes", lost, false},
  };
  return figures;
}

Result<Limit> parse_limit(const std::string& text) {
  Limit limit;
  limit.text = text;
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string::npos) {
    return Error{"compare a figure with > or <, as in l1.peak>1.2MiB"};
  }
  const std::string_view all = text;
  const std::string_view name = trimmed(all.substr(0, sign));
  const auto found = std::find_if(run_figures().begin(), run_figures().end(),
                                  [&](const RunFigure& figure) { return figure.name == name; });
  if (found == run_figures().end()) {
    return Error{fmt::format("there is no figure '{}'; there are {}", name, known_names())};
  }
  limit.figure = &*found;
  limit.above = text[sign] == '>';
  limit.or_equal = sign + 1 < text.size() && text[sign + 1] == '=';
  const std::string_view value = trimmed(all.substr(sign + (limit.or_equal ? 2 : 1)));
  if (!parse_value(value, limit)) {
    return Error{fmt::format("'{}' is no size; write 64KiB, 1.2MiB, +4KiB or +2%", value)};
  }
  if (limit.percent && !limit.relative) {
    return Error{
        fmt::format("a percentage compares with another run: write +{} or -{}", value, value)};
  }
  return limit;
}

Result<Limit> parse_absolute_limit(const std::string& text) {
  Result<Limit> limit = parse_limit(text);
  if (limit && limit->relative) {
    return Error{
        "compares with another run: use it with `ttmem diff OLD NEW`, or leave out the "
        "sign"};
  }
  return limit;
}

std::string exceeded(const Limit& limit, const Report* before, const Report& now) {
  if (is_unknown(limit, before, now)) return {};
  const std::int64_t figure = *limit.figure->of(now);
  const auto value = static_cast<double>(figure);
  if (!limit.relative) {
    if (!is_over(limit, value, limit.value)) return {};
    const auto over = static_cast<std::int64_t>(value - limit.value);
    if (!limit.figure->is_bytes) {
      return fmt::format("{}: it is {}, {:+} from the limit", limit.text, figure, over);
    }
    return fmt::format("{}: it is {} ({} bytes), {:+} bytes from the limit", limit.text,
                       value_text(*limit.figure, figure), figure, over);
  }
  const std::int64_t old = *limit.figure->of(*before);
  const auto base = static_cast<double>(old);
  const double bound = base + (limit.percent ? std::abs(base) * limit.value / 100 : limit.value);
  if (!is_over(limit, value, bound)) return {};
  return fmt::format("{}: it was {} and is {} ({})", limit.text, value_text(*limit.figure, old),
                     value_text(*limit.figure, figure), difference(*limit.figure, old, figure));
}

bool is_unknown(const Limit& limit, const Report* before, const Report& now) {
  return !limit.figure->of(now) || (limit.relative && !limit.figure->of(*before));
}

}  // namespace ttmem::report
