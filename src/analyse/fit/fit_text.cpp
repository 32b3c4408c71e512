// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/fit_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyse/explain/explanation_text.hpp"
#include "analyse/fit/explanation.hpp"
#include "analyse/fit/names.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::fit {
namespace {

using report::DeviceReport;
using report::Extreme;
using text::Color;
using text::Column;
using text::Table;
using text::TextOptions;

std::string time_of(const std::optional<Extreme>& extreme) {
  return extreme ? text::format_moment(extreme->time_ns) : "";
}
report::Bytes bytes_of(const std::optional<Extreme>& extreme) {
  return extreme ? report::Bytes(static_cast<std::uint64_t>(extreme->bytes)) : std::nullopt;
}

Color color_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return Color::green;
    case Verdict::does_not_fit:
      return Color::red;
    case Verdict::unknown:
      break;
  }
  return Color::yellow;
}

std::string first_lines(const BoardFit& board, const std::string& file,
                        const TextOptions& options) {
  text::Line line(options);
  line.add(fmt::format("{} on {}: ", text::printable(file, options.unicode), board.board.system),
           Color::bold);
  line.add(name_of(board.verdict), color_of(board.verdict));
  if (board.estimate && board.verdict == Verdict::unknown) {
    line.add(fmt::format(", as an estimate ~{}", name_of(board.estimate->verdict)),
             color_of(board.estimate->verdict));
  }
  const placement::Grid grid = board.opened ? board.opened->grid : board.board.compute_grid;
  std::string about = fmt::format(
      "{}, {} x {} cores, {} DRAM banks of {}", placement::name_of(board.board.chip.arch), grid.x,
      grid.y, board.board.dram_channels,
      text::format_bytes(board.board.chip.dram_bytes_per_channel, options.units));
  if (board.opened) {
    about += fmt::format(", l1_small_size {}, trace_region_size {}",
                         board.opened->map.l1_small_bytes, board.opened->map.trace_region_bytes);
  }
  about += fmt::format("; {}", text::plural(board.requests, "request", "requests"));
  return line.finish() + text::wrapped(about, 2, Color::dim, options);
}

double share(const std::optional<Extreme>& extreme, std::uint64_t all, double otherwise) {
  if (!extreme || all == 0) return otherwise;
  return static_cast<double>(extreme->bytes) / static_cast<double>(all);
}

// Returns the smallest shares of DRAM, of L1 and of the trace region that stayed free during the
// run, sorted from the smallest to the largest.
std::array<double, 3> least_left(const BoardFit& board, const DeviceReport& device) {
  const placement::ChipSpec& chip = board.board.chip;
  const auto& free = device.least_largest_free;
  std::array<double, 3> left = {
      share(free[Kind::dram], chip.dram_bytes_per_channel, 1),
      std::min(share(free[Kind::l1], chip.l1_bytes_per_core, 1),
               share(device.least_headroom, chip.l1_bytes_per_core, 1)),
      1 - share(device.peak[Kind::trace], device.trace_region.value_or(0), 0)};
  std::sort(left.begin(), left.end());
  return left;
}

// Returns the device with the smallest remaining share of any memory, or null if there is no
// device.
const DeviceReport* tightest(const BoardFit& board) {
  const auto found = std::min_element(board.devices.begin(), board.devices.end(),
                                      [&](const auto& one, const auto& other) {
                                        return least_left(board, one) < least_left(board, other);
                                      });
  return found == board.devices.end() ? nullptr : &*found;
}

// Returns the estimate for the same device. Returns null if there is none, or if a request failed.
// The figures of `device` then end at the failure, and cannot be compared with an estimate.
const DeviceReport* estimate_of(const BoardFit& board, const DeviceReport& device) {
  if (!board.estimate || board.failure) return nullptr;
  const auto place = static_cast<std::size_t>(&device - board.devices.data());
  return place < board.estimate->devices.size() ? &board.estimate->devices[place] : nullptr;
}

std::string peaks_text(const BoardFit& board, const TextOptions& options) {
  const DeviceReport* const device = tightest(board);
  if (device == nullptr || (!device->peak[Kind::dram] && !device->l1_peak)) return {};
  using enum text::Column::Align;
  // Without an estimate, the column is left out because all its cells are "-".
  Table table({{"", left},
               {"PEAK"},
               {"ESTIMATE", right, 0, Column::Cut::never, true},
               {"AT", right, 2},
               {"SHARE"},
               {"LEAST FREE BLOCK/BANK", right, 1},
               {"AT", right, 2}});
  const DeviceReport* const estimated = estimate_of(board, *device);
  const auto add = [&](const char* name, const auto& peak_of, const report::Bytes& capacity,
                       const std::optional<Extreme>& free) {
    const std::optional<Extreme>& peak = peak_of(*device);
    if (!peak) return;
    const auto share = text::share_of(bytes_of(peak), capacity);
    table.add_row(
        {{name},
         {text::format_bytes(bytes_of(peak), options.units),
          text::color_of(text::tone_of_share(share))},
         {estimated != nullptr
              ? text::mark_estimate(
                    text::format_bytes(bytes_of(peak_of(*estimated)), options.units), true)
              : std::string(text::kNone)},
         {time_of(peak)},
         {share ? text::format_share(share) : ""},
         {free ? text::format_bytes(bytes_of(free), options.units) : ""},
         {time_of(free)}});
  };
  const auto of_kind = [](Kind kind) {
    return [kind](const DeviceReport& of) -> const auto& { return of.peak[kind]; };
  };
  const auto of_l1 = [](const DeviceReport& of) -> const auto& { return of.l1_peak; };
  add("DRAM", of_kind(Kind::dram), device->dram_capacity, device->least_largest_free[Kind::dram]);
  add("L1", of_l1, device->l1_capacity, device->least_largest_free[Kind::l1]);
  add("CB", of_kind(Kind::cb), device->l1_capacity, std::nullopt);
  add("Trace", of_kind(Kind::trace), device->trace_region, std::nullopt);
  std::string text;
  if (board.devices.size() > 1) {
    text = fmt::format("  Device {}, which has least left{}:\n", device->id,
                       board.failure ? ", up to then" : "");
  } else if (board.failure) {
    text = "  Up to then:\n";
  }
  if (!board.failure && !board.unknown.empty()) text += "  Without these:\n";
  text += table.render(2, options);
  if (!device->least_headroom) return text;
  const auto room_of = [&](const DeviceReport& of) {
    return text::format_signed_bytes(of.least_headroom->bytes, options.units, text::Scale::core);
  };
  std::string headroom =
      fmt::format("Headroom: least {} between CBs and L1 buffers of a core, at {}",
                  room_of(*device), time_of(device->least_headroom));
  if (estimated != nullptr && estimated->least_headroom) {
    headroom += fmt::format("; estimate ~{}", room_of(*estimated));
  }
  return text + text::wrapped(headroom, 2,
                              device->least_headroom->bytes < 0 ? Color::red : Color::plain,
                              options);
}

std::string what_failed(const FailedRequest& failure, const TextOptions& options) {
  const std::string who = text::origin_or_none(failure.scope, failure.label);
  const std::string where = fmt::format("device{} {}", failure.devices.size() > 1 ? "s" : "",
                                        text::format_ids(failure.devices));
  if (failure.kind == Kind::cb) {
    return fmt::format("Request {} at {} {}: program {} ({}) on {}.", failure.request,
                       text::format_moment(failure.time_ns),
                       failure.at_dispatch ? "is followed by a run that fails" : "fails",
                       failure.program, who, where);
  }
  return fmt::format("Request {} at {} fails: {}, {} of {} on {}.", failure.request,
                     text::format_moment(failure.time_ns), who,
                     text::format_bytes(failure.bytes, options.units), ttmem::name_of(failure.kind),
                     where);
}

std::string failure_text(const BoardFit& board, const TextOptions& options) {
  std::string text = text::wrapped(what_failed(*board.failure, options), 2, Color::plain, options);
  if (!board.failure->certain) {
    text += text::wrapped(
        "This is not certain: requests that cannot be translated may change where buffers lie.", 2,
        Color::yellow, options);
  }
  return text + "\n" + explain::explanation_text(explanation_of(board), options) + "\n";
}

std::string unknown_text(const BoardFit& board, const TextOptions& options) {
  std::string text;
  for (const Unknown& unknown : board.unknown) {
    std::string what;
    if (unknown.why == Why::lost) {
      what = text::plural(unknown.count, "event", "events");
    } else if (unknown.why == Why::not_reported) {
      what = fmt::format("{} of {}", ttmem::name_of(unknown.kind),
                         text::plural(unknown.count, "device", "devices"));
    } else {
      what = fmt::format("{} of {}, {}", text::plural(unknown.count, "request", "requests"),
                         ttmem::name_of(unknown.kind),
                         text::format_bytes(unknown.bytes, options.units));
    }
    text +=
        text::wrapped(fmt::format("{}: {}", what, reason(unknown.why)), 4, Color::plain, options);
  }
  return text.empty() ? text : "  Cannot be translated:\n" + text;
}

// Says what the estimate assumes, and where the run would fail.
std::string estimate_text(const BoardFit& board, const TextOptions& options) {
  if (!board.estimate || !board.opened) return {};
  const placement::Grid& recorded = board.estimate->recorded;
  const placement::Grid& grid = board.opened->grid;
  const bool is_larger = grid.x >= recorded.x && grid.y >= recorded.y && grid != recorded;
  std::string text = fmt::format("The recorded device has {} x {} cores. ", recorded.x, recorded.y);
  text += is_larger
              ? "A program that spreads over the whole grid takes circular buffers on more cores "
                "here, so that PEAK is too small for such a program. "
              : "";
  text += fmt::format(
      "ESTIMATE assumes that programs on the whole grid use {} x {} cores with the same circular "
      "buffers on each{}.",
      grid.x, grid.y,
      board.unknown.empty() ? ""
                            : ", and that what lay on missing cores or banks moves to the others");
  if (const auto& failure = board.estimate->failure) {
    text += " It would fail: " + what_failed(*failure, options);
  }
  return text::wrapped(text, 2, Color::yellow, options);
}

std::string factor_text(const BoardFit& board, const std::string& scope,
                        const TextOptions& options) {
  if (scope.empty()) return {};
  std::string text;
  if (board.scope_unknown) {
    return text::wrapped(
        fmt::format("How large {} may be is unknown: none of its buffers can be translated ({}).",
                    scope, reason(*board.scope_unknown)),
        2, Color::bold, options);
  }
  if (!board.largest_factor) {
    text = fmt::format("{} does not fit in any size.", scope);
  } else if (!board.smallest_failing_factor) {
    text = fmt::format("{} fits in any size, up to {:.0f} times.", scope, *board.largest_factor);
  } else {
    text = fmt::format("{} fits up to {:.4g} times, and not {:.4g} times.", scope,
                       *board.largest_factor, *board.smallest_failing_factor);
  }
  if (!board.unknown.empty()) text += " Requests that cannot be translated are not counted.";
  return text::wrapped(text, 2, Color::bold, options);
}

}  // namespace

std::string fit_text(const BoardFit& board, const std::string& file, const std::string& scope,
                     const TextOptions& options) {
  std::string text = first_lines(board, file, options);
  if (board.failure) text += failure_text(board, options);
  return text + unknown_text(board, options) + estimate_text(board, options) +
         peaks_text(board, options) + factor_text(board, scope, options);
}

}  // namespace ttmem::fit
