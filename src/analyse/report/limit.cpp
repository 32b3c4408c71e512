// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "analyse/report/peak_ranges.hpp"
#include "base/format_bytes.hpp"
#include "base/plural.hpp"
#include "read/recording/file/sources.hpp"

namespace ttmem::report {
namespace {

using FigureBound = std::optional<std::int64_t>;
using LimitedFigure = std::optional<FigureRange>;

// Larger than any figure.
constexpr double kInfinity = 9e18;

// Returns the higher (or lower) of two bounds; nullopt if one of them is unknown.
FigureBound extreme_if_known(const FigureBound& a, const FigureBound& b, bool highest) {
  if (!a || !b) return std::nullopt;
  return highest ? std::max(*a, *b) : std::min(*a, *b);
}

// Returns the higher (or lower) of the known bounds. If only one bound is known, returns this
// bound, because the extreme of two values is at least as high (or low) as each value.
FigureBound extreme_of_known(const FigureBound& a, const FigureBound& b, bool highest) {
  if (!a || !b) return a ? a : b;
  return extreme_if_known(a, b, highest);
}

void offer(LimitedFigure& best, const LimitedFigure& figure, bool highest) {
  if (!figure) return;
  if (!best) {
    best = figure;
    return;
  }
  best->least = highest ? extreme_of_known(best->least, figure->least, highest)
                        : extreme_if_known(best->least, figure->least, highest);
  best->most = highest ? extreme_if_known(best->most, figure->most, highest)
                       : extreme_of_known(best->most, figure->most, highest);
}

template <Kind kind>
LimitedFigure peak(const Report& report) {
  LimitedFigure best;
  for (const DeviceReport& device : report.devices) {
    offer(best, peak_range_of(device, kind), true);
  }
  return best;
}

// Returns the range of a minimum. The range has no lower bound if some moments were not recorded,
// because the figure may have been lower then.
LimitedFigure least_of(const std::optional<Extreme>& seen, bool all_seen) {
  if (!seen) return std::nullopt;
  return FigureRange{all_seen ? FigureBound(seen->bytes) : std::nullopt, seen->bytes};
}

template <Kind kind>
LimitedFigure least_free(const Report& report) {
  LimitedFigure best;
  for (const auto& device : report.devices) {
    offer(best, least_of(device.least_largest_free[kind], device.all_seen), false);
  }
  return best;
}

LimitedFigure l1_peak(const Report& report) {
  LimitedFigure best;
  for (const DeviceReport& device : report.devices) offer(best, l1_peak_range_of(device), true);
  return best;
}

LimitedFigure headroom(const Report& report) {
  LimitedFigure best;
  for (const DeviceReport& device : report.devices) {
    offer(best, least_of(device.least_headroom, device.all_seen && device.cbs_seen), false);
  }
  return best;
}

LimitedFigure exactly(std::uint64_t value) {
  const auto exact = static_cast<std::int64_t>(value);
  return FigureRange{exact, exact};
}

// Returns the range of the leaked bytes. The range has no upper bound if there are gaps, because
// leaks of a device that was closed in a gap are not seen.
LimitedFigure leak(const Report& report) {
  LimitedFigure figure = exactly(report.leak_bytes());
  if (!report.all_seen()) figure->most.reset();
  return figure;
}
LimitedFigure lost(const Report& report) { return exactly(report.lost_events); }

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

// Returns the number of bytes of a unit; nullopt if the unit does not exist.
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

// Parses "+2%", "1.2MiB" or "0".
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

// Returns the value with which the figure is compared. A relative limit is added to `base`, the
// figure of the other run. An absolute limit ignores `base`.
double bound_of(const Limit& limit, double base) {
  if (!limit.relative) return limit.value;
  return base + (limit.percent ? std::abs(base) * limit.value / 100 : limit.value);
}

std::array<double, 2> ends_of(const FigureRange& range) {
  return {range.least ? static_cast<double>(*range.least) : -kInfinity,
          range.most ? static_cast<double>(*range.most) : kInfinity};
}

// Returns why a figure is not exact, and what to do about it.
std::string why_not_exact(const Report& report) {
  if (!report.complete) return "the end of the recording is missing; record again";
  if (!report.not_tracked.empty()) {
    return "some processes were not tracked; record again with more free space";
  }
  if (report.source == recording::kLooks) {
    return "the recording is made of samples (--server); record it on that machine";
  }
  if (report.lost_events > 0) {
    return fmt::format("{} lost; record with a larger TTMEM_EVENTS",
                       plural(report.lost_events, "event was", "events were"));
  }
  if (report.aggregate) return "it was recorded with --aggregate; record without it";
  return "some circular buffers were gone before they were read; start the command with record";
}

std::string value_text(const RunFigure& figure, std::int64_t value) {
  if (!figure.is_bytes) return fmt::format("{}", value);
  const auto size = format_bytes(static_cast<std::uint64_t>(std::llabs(value)));
  return (value < 0 ? "-" : "") + size;
}

// Formats a difference: "+4096 bytes, +2.1%".
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
      {"l1.largest_free.min", "smallest largest free block of an L1 bank", least_free<Kind::l1>},
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

Judgement judge(const Limit& limit, const Report* before, const Report& now) {
  const LimitedFigure figure = limit.figure->of(now);
  const LimitedFigure old = limit.relative ? limit.figure->of(*before) : FigureRange{0, 0};
  if (!figure || !old) return Judgement::unknown;
  bool some_over = false;
  bool all_over = true;
  for (const double base : ends_of(*old)) {
    for (const double value : ends_of(*figure)) {
      const bool over = is_over(limit, value, bound_of(limit, base));
      some_over = some_over || over;
      all_over = all_over && over;
    }
  }
  if (all_over) return Judgement::exceeded;
  return some_over ? Judgement::unknown : Judgement::kept;
}

std::string exceeded(const Limit& limit, const Report* before, const Report& now) {
  if (judge(limit, before, now) != Judgement::exceeded) return {};
  const LimitedFigure range = limit.figure->of(now);
  const std::int64_t figure = shown_bound(*range);
  const char* const is = words_before_bound(*range);
  if (!limit.relative) {
    const auto over = static_cast<std::int64_t>(static_cast<double>(figure) - limit.value);
    if (!limit.figure->is_bytes) {
      return fmt::format("{}: it is {}{}, {:+} from the limit", limit.text, is, figure, over);
    }
    return fmt::format("{}: it is {}{} ({} bytes), {:+} bytes from the limit", limit.text, is,
                       value_text(*limit.figure, figure), figure, over);
  }
  const LimitedFigure base = limit.figure->of(*before);
  const std::int64_t old = shown_bound(*base);
  return fmt::format("{}: it was {}{} and is {}{} ({})", limit.text, words_before_bound(*base),
                     value_text(*limit.figure, old), is, value_text(*limit.figure, figure),
                     difference(*limit.figure, old, figure));
}

std::string why_unknown(const Limit& limit, const Report* before, const Report& now) {
  const auto why = [&](const Report& report, std::string_view whose) {
    const LimitedFigure range = limit.figure->of(report);
    const std::string name = fmt::format("{}{}", limit.figure->name, whose);
    if (!range) return fmt::format("{} is not known", name);
    if (range->is_exact()) return std::string();
    return fmt::format("{} is not known exactly: it is {}{}, because {}", name,
                       words_before_bound(*range), value_text(*limit.figure, shown_bound(*range)),
                       why_not_exact(report));
  };
  const std::string of_now = why(now, "");
  return limit.relative && of_now.empty() ? why(*before, " of the old run") : of_now;
}

const char* words_before_bound(const FigureRange& range) {
  if (range.is_exact()) return "";
  return range.least ? "at least " : "at most ";
}

std::int64_t shown_bound(const FigureRange& range) {
  return range.least ? *range.least : range.most.value_or(0);
}

}  // namespace ttmem::report
