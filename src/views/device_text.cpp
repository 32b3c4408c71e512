// SPDX-License-Identifier: Apache-2.0
#include "views/device_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "views/bar.hpp"
#include "views/format.hpp"

namespace ttmem::views {
namespace {

using model::Bytes;
using model::Device;

constexpr std::size_t kLabelEnd = 13;  // labels end here: "L1 buffers:" after two blanks
constexpr std::size_t kSizeCells = 9;  // the longest that format_bytes() makes
constexpr std::size_t kNoteIndent = kLabelEnd + 1;

// One line: label, size, bar, share of the capacity, notes.
struct Row {
  std::string_view label;
  Bytes used;
  Bytes capacity;
  std::uint64_t offset = 0;  // where its piece of the bar begins
  bool whole = false;        // a memory of its own, not a part of one
  Color color = Color::plain;
  std::vector<std::string> notes;  // as many as fit, none of them cut
};

// At 80 columns 12 cells, which leaves room for "resident 999.9 MiB, logical 999.9 MiB".
std::size_t bar_cells(std::size_t width) {
  if (width < 64) return 0;
  return width <= 80 ? 12 : std::min<std::size_t>(12 + (width - 80) / 2, 60);
}

// Right-aligned, so that the size follows after one blank.
std::string label_text(std::string_view label) { return fmt::format("{:>{}} ", label, kLabelEnd); }

// As many of the parts as fit, none of them cut.
std::string joined_to_fit(const std::vector<std::string>& parts, std::size_t room) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string longer = i == 0 ? parts[i] : text + ", " + parts[i];
    if (display_width(longer) > room) break;
    text = longer;
  }
  return text;
}

std::string row_text(const Row& row, const TextOptions& options) {
  const std::optional<double> share = share_of(row.used, row.capacity);
  const Color color = row.whole && share ? color_of_share(*share) : row.color;
  Line line(options);
  line.add(label_text(row.label));
  line.add(format_bytes(row.used), row.used ? Color::bold : Color::dim);
  line.pad_to(kNoteIndent + kSizeCells + 1);
  if (!row.used && !row.capacity) return line.finish();
  if (const std::size_t cells = bar_cells(options.width); cells > 0) {
    const double begin = share_of(row.offset, row.capacity).value_or(0);
    add_bar(line, cells, {begin, begin + share.value_or(0), color}, row.whole && share, options);
    line.add(" ");
  }
  const std::string percent = format_share(share);
  line.add(fmt::format("{:>4}", percent), row.whole && share ? color : Color::dim).add("  ");
  line.add(joined_to_fit(row.notes, line.room()), Color::dim);
  return line.finish();
}

std::string named(std::string_view name, Bytes bytes) {
  return fmt::format("{} {}", name, format_bytes(bytes));
}

std::string capacity_note(Bytes capacity) { return "of " + format_bytes(capacity); }

std::string model_of(const Device& device) {
  if (device.board.empty() && device.arch.empty()) return "model n/a";
  if (device.board.empty() || device.arch.empty()) return device.board + device.arch;
  return fmt::format("{} ({})", device.board, device.arch);
}

std::string title(const Device& device, const TextOptions& options) {
  const auto living = static_cast<std::uint64_t>(
      std::count_if(device.processes.begin(), device.processes.end(),
                    [](const auto& process) { return process.state == model::State::alive; }));
  std::vector<std::string> parts{printable(model_of(device), options.unicode)};
  if (device.grid_x != 0 && device.grid_y != 0) {
    parts.push_back(fmt::format("{}x{} cores", device.grid_x, device.grid_y));
  }
  parts.push_back(living == 0 ? "no living process" : plural(living, "process", "processes"));
  if (device.programs) parts.push_back(plural(*device.programs, "program", "programs"));
  if (device.uid) parts.push_back("uid " + format_hex(*device.uid));
  Line line(options);
  line.add(fmt::format("Device {}:", device.id), Color::bold).add(" ");
  return line.add(joined_to_fit(parts, line.room())).finish();
}

std::string headroom_note(const Device& device) {
  return fmt::format("headroom {} per core",
                     device.headroom_bytes_per_core
                         ? format_signed_bytes(*device.headroom_bytes_per_core, Scale::core)
                         : std::string(kUnknown));
}

// L1 and what adds up to it, each part beginning where the one before ends.
std::vector<Row> l1_rows(const Device& device) {
  const Bytes capacity = device.l1_capacity_bytes;
  std::vector<Row> rows;
  rows.push_back({"L1:",
                  device.l1_used_bytes,
                  capacity,
                  0,
                  true,
                  Color::plain,
                  {capacity_note(capacity), named("peak", device.l1_peak_bytes),
                   headroom_note(device), "= L1 buffers + L1_SMALL + CB + kernels"}});
  std::uint64_t offset = 0;
  const auto part = [&](std::string_view label, Bytes used, Color color,
                        std::vector<std::string> notes) {
    rows.push_back({label, used, capacity, offset, false, color, std::move(notes)});
    offset += used.value_or(0);
  };
  part("L1 buffers:", device.used(Kind::l1), Color::blue,
       device.physical(Kind::l1) || !device.used(Kind::l1)
           ? std::vector{named("logical", device.logical(Kind::l1))}
           : std::vector{named("logical", device.logical(Kind::l1)), std::string("physical n/a")});
  if (device.used(Kind::l1_small) != 0U)
    part("L1_SMALL:", device.used(Kind::l1_small), Color::cyan, {});
  part("CB:", device.used(Kind::cb), Color::magenta,
       {named("resident", device.cb_resident_bytes), named("logical", device.logical(Kind::cb)),
        named("peak", device.peak(Kind::cb))});
  std::vector<std::string> kernel_notes = {format_bytes(device.kernels_persistent_bytes) +
                                           " persistent (dispatch)"};
  if (device.kernels_estimated_bytes.value_or(0) > 0) {
    kernel_notes.push_back(format_bytes(device.kernels_estimated_bytes) + " of it estimated");
  }
  part("Kernels:", device.used(Kind::kernel), Color::yellow, std::move(kernel_notes));
  return rows;
}

// Which cores have the least headroom, in words.
std::string tightest_cores(const Device& device) {
  std::vector<const model::Core*> tightest;
  for (const model::Core& core : device.cores) {
    if (core.headroom_bytes == device.headroom_bytes_per_core) tightest.push_back(&core);
  }
  if (tightest.empty()) return "the tightest core";
  if (tightest.size() == device.cores.size()) return "every core";
  const std::string first = fmt::format("({},{})", tightest[0]->x, tightest[0]->y);
  if (tightest.size() == 1) return "core " + first;
  return fmt::format("{} cores, first {}", tightest.size(), first);
}

std::string headroom_text(const Device& device, const TextOptions& options) {
  Line line(options);
  line.add(label_text("Headroom:"));
  if (!device.headroom_bytes_per_core) return line.add(kUnknown, Color::dim).finish();
  const std::int64_t headroom = *device.headroom_bytes_per_core;
  const std::string size = format_signed_bytes(headroom, Scale::core);
  if (headroom >= 0) {
    line.add(size, Color::bold).add(" on " + tightest_cores(device), Color::dim);
    return line.finish();
  }
  line.add(size, Color::red);
  const std::string words = "clash: CBs overrun L1 buffers on " + tightest_cores(device);
  if (display_width(words) + 2 <= line.room()) {
    return line.add("  ").add(words, Color::red).finish();
  }
  return line.finish() + wrapped(words, kNoteIndent, Color::red, options);
}

std::string anomalies_text(const Anomalies& found, const TextOptions& options) {
  const std::vector<std::string> parts = anomaly_notes(found);
  if (parts.empty()) return {};
  return wrapped(join(parts, ", "), kNoteIndent, Color::yellow, options, label_text("Anomalies:"));
}

}  // namespace

std::vector<std::string> anomaly_notes(const Anomalies& found) {
  std::vector<std::string> parts;
  const auto part = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count > 0) parts.push_back(plural(count, one, many));
  };
  part(found.overlapping_buffers, "live buffer overlaps another", "live buffers overlap others");
  part(found.allocs_over_live, "allocation over a live one", "allocations over live ones");
  part(found.unknown_frees, "free of something unknown", "frees of something unknown");
  part(found.unknown_programs, "dispatch of an unplaced program",
       "dispatches of unplaced programs");
  part(found.bad_arguments, "call with bad arguments", "calls with bad arguments");
  part(found.left_at_close, "allocation left at close", "allocations left at close");
  if (found.left_at_close > 0) {
    parts.back() += fmt::format(" ({})", format_bytes(found.left_at_close_bytes));
  }
  return parts;
}

std::string device_text(const Device& device, Detail detail, const TextOptions& options) {
  std::string text = title(device, options);
  const Bytes dram = device.dram_capacity_bytes;
  text += row_text({"DRAM:",
                    device.used(Kind::dram),
                    dram,
                    0,
                    true,
                    Color::plain,
                    {capacity_note(dram), named("peak", device.peak(Kind::dram)),
                     named("logical", device.logical(Kind::dram))}},
                   options);
  for (const Row& row : l1_rows(device)) text += row_text(row, options);
  const bool no_trace = device.used(Kind::trace) == 0U && device.peak(Kind::trace).value_or(0) == 0;
  if (!no_trace || (detail == Detail::full && device.trace_capacity_bytes.value_or(0) > 0)) {
    const Bytes trace = device.trace_capacity_bytes;
    text += row_text({"Trace:",
                      device.used(Kind::trace),
                      trace,
                      0,
                      true,
                      Color::plain,
                      {capacity_note(trace), named("peak", device.peak(Kind::trace))}},
                     options);
  }
  if (detail == Detail::full || device.headroom_bytes_per_core.value_or(0) < 0) {
    text += headroom_text(device, options);
  }
  return text + anomalies_text(device.anomalies, options);
}

}  // namespace ttmem::views
