// SPDX-License-Identifier: Apache-2.0
#include "show/views/snapshot_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "show/views/brief_text.hpp"
#include "show/views/core_text.hpp"
#include "show/views/device_layout.hpp"
#include "show/views/device_list.hpp"
#include "show/views/device_rows.hpp"
#include "text/bar.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using model::Bytes;
using model::Device;
using model::Snapshot;
using What = DeviceRow::What;

// Returns the time of the snapshot, or an empty text if the time is unknown.
std::string time_text(const Snapshot& snapshot, const text::TextOptions& options) {
  if (snapshot.time_unix_ns == 0) return {};
  return "  " + text::format_time(snapshot.time_unix_ns, options.utc_offset_seconds);
}

std::string header(const Snapshot& snapshot, const text::TextOptions& options) {
  return text::Line(options)
      .add("ttmem", text::Color::bold)
      .add(time_text(snapshot, options))
      .add(fmt::format("  {}, {}", plural(snapshot.devices.size(), "device", "devices"),
                       plural(living_processes(snapshot), "process", "processes")))
      .add("  " + text::printable(snapshot.host, options.unicode), text::Color::dim)
      .finish();
}

std::string title_text(const Device& device, const text::TextOptions& options) {
  const DeviceTitle title = device_title(device);
  std::vector<std::string> parts;
  for (const std::string& fact : title.facts)
    parts.push_back(text::printable(fact, options.unicode));
  // Shortens the model to the board in a narrow terminal, so that there is room for the state of
  // the chip.
  constexpr std::size_t narrow = 60;
  if (options.width < narrow && !device.shares_number && !title.board.empty()) {
    parts[0] = text::printable(title.board, options.unicode);
  }
  parts.insert(parts.end(), title.counts.begin(), title.counts.end());
  parts.insert(parts.end(), title.sensors.begin(), title.sensors.end());
  if (parts.front() != device.bus_id) parts.push_back(device.bus_id);
  parts.push_back(title.uid);
  text::Line line(options);
  line.add(title.name + ":", text::Color::bold).add(" ");
  return line.add(text::joined_to_fit(parts, line.room())).finish();
}

// Returns the label and the mark. The label is right-aligned so that the size starts in column
// `at.size`; a mark takes the place of some padding.
std::string label_text(const DeviceRow& row, const RowLayout& at) {
  return fmt::format("{:>{}}: {}", row.name, at.size - 2 - static_cast<int>(row.mark.size()),
                     row.mark);
}

// Returns the row of a clash or of anomalies. The row has all notes, in as many lines as necessary.
std::string trouble_text(const DeviceRow& row, const RowLayout& at,
                         const text::TextOptions& options) {
  std::string words = row.size + (row.size.empty() ? "" : "  ");
  for (const Note& note : row.notes) words += (&note == &row.notes[0] ? "" : ", ") + note.text;
  return text::wrapped(words, static_cast<std::size_t>(at.size), text::color_of(row.tone), options,
                       label_text(row, at));
}

// Returns the row of free space. The row has all notes, in as many lines as necessary.
std::string free_text(const DeviceRow& row, const RowLayout& at, const text::TextOptions& options) {
  const auto indent = static_cast<std::size_t>(at.size);
  std::string text;
  for (const std::string& words :
       notes_in_lines(row.notes, text::Line(options).pad_to(indent).room())) {
    text += text::Line(options)
                .add(text.empty() ? label_text(row, at) : "")
                .pad_to(indent)
                .add(words, text::Color::dim)
                .finish();
  }
  return text;
}

// Returns a line with label, size, bar, share of the capacity and notes.
std::string row_text(const DeviceRow& row, const text::TextOptions& options) {
  const RowLayout at = table_layout(static_cast<int>(options.width),
                                    options.units == text::Units::automatic ? 0 : 5);
  if (row.is_words() && row.tone != text::Tone::none) return trouble_text(row, at, options);
  if (row.what == What::free) return free_text(row, at, options);
  text::Line line(options);
  line.add(label_text(row, at));
  line.add(row.size, row.size == text::kUnknown ? text::Color::dim : text::Color::bold);
  if (!row.size.empty()) line.pad_to(static_cast<std::size_t>(at.bar));
  if (!row.is_words() && row.is_known()) {
    const bool whole = !row.is_part() && row.share();
    text::add_bar(line, static_cast<std::size_t>(at.cells), row.piece(), whole, options);
    line.add(
        fmt::format("{:>{}}", text::format_share(row.share()), at.share_end() - at.bar - at.cells),
        whole ? text::color_of(row.tone) : text::Color::dim);
    line.add("  ");
  }
  return line.add(notes_to_fit(row.notes, line.room()), text::Color::dim).finish();
}

// Returns the title of a device and its rows. Leaves out minor rows if `in_full` is false.
std::string device_text(const Device& device, bool in_full, const text::TextOptions& options) {
  std::string text = title_text(device, options);
  for (const DeviceRow& row : device_rows(device, options.units)) {
    const bool shown = device.idle ? row.what == What::dram || row.what == What::l1 ||
                                         row.what == What::cb || row.what == What::kernels
                                   : in_full || !row.minor;
    if (shown) text += row_text(row, options);
  }
  return text;
}

Bytes sum_over(const std::vector<DeviceRows>& devices, What what, Bytes DeviceRow::*figure) {
  std::uint64_t sum = 0;
  for (const DeviceRows& rows : devices) {
    const Bytes bytes = row_of(rows, what).*figure;
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

// Returns true if the kernel driver shows the chip, but no living, tracked process uses it. The
// used bytes of such a chip are unknown.
bool is_silent(const Device& device) {
  return device.driver_number &&
         std::none_of(device.processes.begin(), device.processes.end(), [](const auto& process) {
           return process.state == model::State::alive && process.not_tracked.empty();
         });
}

// The sum of the used bytes of all devices, with the marks of all devices. A silent device with
// unknown used bytes adds no bytes and counts as marked with ">=". If any other device has unknown
// used bytes, the sum is unknown.
struct UsedSum {
  Bytes bytes = std::nullopt;
  std::string mark{};
};
UsedSum used_on(const std::vector<Device>& devices, const std::vector<DeviceRows>& rows,
                What what) {
  UsedSum sum;
  bool at_least = false;
  bool estimate = false;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceRow& row = row_of(rows[i], what);
    if (!row.used && !is_silent(devices[i])) return {};
    if (row.used) sum.bytes = sum.bytes.value_or(0) + *row.used;
    at_least |= !row.used || row.mark.find(">=") != std::string::npos;
    estimate |= row.mark.find('~') != std::string::npos;
  }
  sum.mark = std::string(at_least ? ">=" : "") + (estimate ? "~" : "");
  return sum;
}

// Returns a line such as "  DRAM  9.84 GiB of 96.0 GiB  10%  ▂▂▂▂▂▂▂▂  fullest: 3 (12%)".
std::string sum_line(const std::vector<Device>& devices, const std::vector<DeviceRows>& rows,
                     What what, const text::TextOptions& options) {
  const UsedSum used = used_on(devices, rows, what);
  const Bytes capacity = sum_over(rows, what, &DeviceRow::capacity);
  text::Line line(options);
  line.add(
      fmt::format("  {:<4}  {:>9} of {:<9}  ", row_of(rows[0], what).name,
                  (used.bytes ? used.mark : "") + text::format_bytes(used.bytes, options.units),
                  text::format_bytes(capacity, options.units)));
  const auto total = text::share_of(used.bytes, capacity);
  line.add(fmt::format("{:>4}", text::format_share(total)),
           text::color_of(text::tone_of_share(total)))
      .add("  ");
  const auto share = [&](const DeviceRows& of) { return row_of(of, what).share(); };
  if (devices.size() <= line.room()) {
    for (const DeviceRows& of : rows) {
      line.add(text::spark(share(of), options), text::color_of(row_of(of, what).tone));
    }
  }
  const auto fullest = std::max_element(
      rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return share(a) < share(b); });
  const std::string text = fmt::format(
      "  fullest: {} ({})",
      text::format_device_briefly(devices[static_cast<std::size_t>(fullest - rows.begin())]),
      text::format_share(share(*fullest)));
  if (share(*fullest) && text.size() <= line.room()) line.add(text, text::Color::dim);
  return line.finish();
}

std::string sums(const std::vector<Device>& devices, const text::TextOptions& options) {
  std::vector<DeviceRows> rows;
  rows.reserve(devices.size());
  for (const Device& device : devices) rows.push_back(device_rows(device, options.units));
  std::string text = text::Line(options)
                         .add(fmt::format("All {} devices", devices.size()), text::Color::bold)
                         .finish();
  for (const What what : {What::dram, What::l1}) text += sum_line(devices, rows, what, options);
  const Device* tightest = nullptr;
  for (const Device& device : devices) {
    const auto headroom = device.headroom_bytes_per_core;
    if (headroom && (!tightest || *headroom < *tightest->headroom_bytes_per_core)) {
      tightest = &device;
    }
  }
  if (tightest == nullptr) return text;
  const std::int64_t least = *tightest->headroom_bytes_per_core;
  const std::string words = fmt::format(
      "  least headroom: {} per core, on device {}",
      text::format_signed_bytes(least, options.units, Scale::core), text::format_device(*tightest));
  return text +
         text::Line(options).add(words, least < 0 ? text::Color::red : text::Color::dim).finish();
}

// Returns the rows of every device, then the sums over all devices.
std::string devices_text(const Snapshot& snapshot, bool per_core,
                         const text::TextOptions& options) {
  const bool in_full = snapshot.devices.size() <= kMaxInFull;
  std::string text;
  for (const Device& device : snapshot.devices) {
    text += device_text(device, in_full, options);
    if (per_core) text += core_text(device, options);
    if (per_core || in_full) text += "\n";
  }
  if (!text.ends_with("\n\n")) text += "\n";
  return snapshot.devices.size() > 1 ? text + sums(snapshot.devices, options) + "\n" : text;
}

bool shows_free_space(const Snapshot& snapshot) {
  return snapshot.devices.size() <= kMaxInFull &&
         std::any_of(snapshot.devices.begin(), snapshot.devices.end(), [](const Device& device) {
           return std::any_of(device.free.begin(), device.free.end(),
                              [](const auto& kind) { return kind.bytes_per_bank.has_value(); });
         });
}

std::string legend(const Snapshot& snapshot, const text::TextOptions& options) {
  std::string text =
      "L1 = L1 buffers + L1_SMALL + CB + kernels. CB counts what programs share once; "
      "resident: dispatched last; logical: the plain sum over all live programs.";
  if (shows_free_space(snapshot))
    text += " Free: for buffers, in all banks; a buffer needs one block in each bank.";
  return text::wrapped(text, 0, text::Color::dim, options);
}

std::string warnings_text(const Snapshot& snapshot, const text::TextOptions& options) {
  std::string text;
  for (const std::string& warning : snapshot.warnings) {
    text += text::wrapped("warning: " + text::printable(warning, options.unicode), 0,
                          text::Color::yellow, options);
  }
  return text;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string in_brief(const text::TextOptions& options) {
  return text::wrapped("In brief, to fit the terminal: `ttmem --long` shows all.", 0,
                       text::Color::dim, options);
}

// Returns the devices, then the processes, in at most `rows` lines. Each of the two parts may take
// half of the lines. If one part needs fewer lines, the other part may use the rest.
std::string cut_to(std::size_t rows, const std::string& devices, const std::string& processes) {
  const std::size_t above = lines_in(devices);
  const std::size_t below =
      std::min(lines_in(processes), std::max(rows / 2, rows - std::min(rows, above)));
  return fit_rows(devices, rows - below, "--device shows fewer devices") +
         fit_rows(processes, below, "--pid or --user shows fewer processes");
}

}  // namespace

std::string fit_rows(const std::string& text, std::size_t rows, std::string_view advice) {
  const std::size_t lines = lines_in(text);
  if (lines <= rows || rows == 0) return text;
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < rows; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end) + fmt::format("({} more lines: {})\n", lines - rows + 1, advice);
}

std::string snapshot_text(const Snapshot& snapshot, const SnapshotTextOptions& what,
                          const text::TextOptions& options) {
  const std::string warnings = what.warnings ? warnings_text(snapshot, options) : std::string();
  if (snapshot.devices.empty()) return no_device_text(snapshot, options) + warnings;
  const std::string title = header(snapshot, options) + not_complete_text(snapshot, options) + "\n";
  const std::string processes = process_text(snapshot, what.processes, options);
  const std::string gap = processes.empty() ? "" : "\n";
  std::string devices = title + (what.brief ? brief_text(snapshot, options) + "\n"
                                            : devices_text(snapshot, what.per_core, options));
  std::string text =
      devices + processes + (what.brief ? "" : gap + legend(snapshot, options)) + warnings;
  if (what.rows == 0 || lines_in(text) <= what.rows) return text;
  if (!what.per_core) devices = title + brief_text(snapshot, options) + "\n";
  if (what.cut_to_rows) return cut_to(what.rows, devices, processes + warnings);
  return devices + processes + gap + in_brief(options) + warnings;
}

}  // namespace ttmem::views
