// SPDX-License-Identifier: Apache-2.0
#include "show/views/device_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/saturating.hpp"
#include "read/model/shared_chip.hpp"
#include "text/core_ranges.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using model::Bytes;
using model::Device;
using What = DeviceRow::What;

Note named(std::string_view name, Bytes bytes, text::Units units, std::string_view brief = {}) {
  const std::string size = text::format_bytes(bytes, units);
  return {fmt::format("{} {}", name, size),
          brief.empty() ? std::string() : fmt::format("{} {}", brief, size)};
}

// Returns the row of a memory that has its own capacity: DRAM, L1 or trace.
DeviceRow memory(What what, std::string_view name, Bytes used, Bytes capacity, Bytes peak,
                 text::Units units) {
  DeviceRow row{what, name, text::format_bytes(used, units), used, capacity, peak};
  row.tone = text::tone_of_share(row.share());
  return row;
}

// Returns true if the logical size of a kind is known, but not its physical size.
bool is_logical(const Device& device, Kind kind) {
  return device.used(kind) && !device.physical(kind);
}

Note logical_mark(const DeviceRow& row) {
  return row.as_asked_for ? Note{std::string(kNotPhysical), {}} : Note{};
}

// Returns a note about the bytes that lockstep wastes. Returns an empty note if lockstep wastes no
// bytes.
Note lockstep_note(const Device& device, Kind kind, text::Units units) {
  const Bytes wasted = device.lockstep_bytes[kind];
  return wasted.value_or(0) > 0 ? named("lockstep wastes", wasted, units, "wastes") : Note{};
}

std::vector<Note> kernel_notes(const Device& device, text::Units units) {
  std::vector<Note> notes;
  for (const auto& [bytes, what] : {std::pair(device.kernels_persistent_bytes, "persistent"),
                                    std::pair(device.kernels_estimated_bytes, "estimated")}) {
    if (bytes.value_or(0) > 0) notes.push_back({text::format_bytes(bytes, units) + " " + what, {}});
  }
  return notes;
}

// Adds the row of L1 and the rows of the parts of L1. In the bar of L1, each part starts where the
// previous part ends.
void add_l1(DeviceRows& rows, const Device& device, text::Units units) {
  const Bytes capacity = device.l1_capacity_bytes;
  rows.push_back(
      memory(What::l1, "L1", device.l1_used_bytes, capacity, device.l1_peak_bytes, units));
  std::uint64_t begin = 0;
  const auto part = [&](What what, text::Tone tone, Bytes used, Bytes peak) {
    rows.push_back({what, name_of_part(tone), text::format_bytes(used, units), used, capacity, peak,
                    begin, tone});
    begin = saturating_add(begin, used.value_or(0));
  };
  part(What::buffers, text::Tone::buffers, device.used(Kind::l1), {});
  rows.back().as_asked_for = is_logical(device, Kind::l1);
  if (const Bytes small = device.used(Kind::l1_small); small.value_or(0) > 0) {
    part(What::small, text::Tone::small, small, {});
  }
  part(What::cb, text::Tone::cbs, device.used(Kind::cb), device.peak(Kind::cb));
  part(What::kernels, text::Tone::kernels, device.used(Kind::kernel), {});
}

// Adds the row of trace memory. Adds no row if the device has no trace region and never used trace
// memory. The row is minor if the device never used trace memory.
void add_trace(DeviceRows& rows, const Device& device, text::Units units) {
  const bool unused =
      device.used(Kind::trace).value_or(0) == 0 && device.peak(Kind::trace).value_or(0) == 0;
  if (unused && device.trace_capacity_bytes.value_or(0) == 0) return;
  rows.push_back(memory(What::trace, "Trace", device.used(Kind::trace), device.trace_capacity_bytes,
                        device.peak(Kind::trace), units));
  rows.back().minor = unused;
}

// Returns the name of the cores that have the least headroom, such as "core (3,4)" or "every core".
std::string tightest_cores(const Device& device) {
  CoreMask mask;
  for (std::size_t i = 0; i < std::min<std::size_t>(device.cores.size(), kMaxCores); ++i) {
    if (device.cores[i].headroom_bytes == device.headroom_bytes_per_core) {
      mask.set(static_cast<std::uint32_t>(i));
    }
  }
  const std::vector<CoreRange> ranges = text::core_ranges(mask, device.grid_x);
  if (ranges.empty()) return "the tightest core";
  if (mask.count() == device.cores.size()) return "every core";
  if (mask.count() == 1) return "core " + text::format_core_ranges(ranges);
  if (ranges.size() == 1) {
    return fmt::format("{} cores, {}", mask.count(), text::format_core_ranges(ranges));
  }
  return fmt::format("{} cores, first ({},{})", mask.count(), ranges[0].x0, ranges[0].y0);
}

bool clashes(const Device& device) { return device.headroom_bytes_per_core.value_or(0) < 0; }

void add_headroom(DeviceRows& rows, const Device& device, text::Units units) {
  DeviceRow row{What::headroom, "Headroom",
                text::format_signed_bytes(device.headroom_bytes_per_core, units, Scale::core)};
  row.minor = !clashes(device);
  if (clashes(device)) row.tone = text::Tone::bad;
  rows.push_back(std::move(row));
}

std::vector<Note> headroom_notes(const Device& device) {
  if (!device.headroom_bytes_per_core) return {};
  const std::string where = " on " + tightest_cores(device);
  return {clashes(device) ? Note{"clash: CBs overrun L1 buffers" + where, "clash" + where}
                          : Note{"between CBs and L1 buffers" + where, where.substr(1)}};
}

// Returns the number of banks in which the runtime's allocator places buffers of `kind`. Returns 0
// if the number is unknown.
std::uint64_t banks_of(const Device& device, Kind kind) {
  const bool in_dram = kind == Kind::dram || kind == Kind::trace;
  return in_dram ? device.dram_channels : std::uint64_t{device.grid_x} * device.grid_y;
}

// Returns a note such as "DRAM 30.6 GiB (8 banks x 3.83 GiB, largest block 3.80 GiB)". Its brief
// form is "DRAM 30.6 GiB (8 x 3.83 GiB, max 3.80 GiB)".
Note free_note(std::string_view name, const model::FreeSpace& free, std::uint64_t banks,
               text::Units units) {
  if (!free.bytes_per_bank) return {};
  const std::string in_bank = text::format_bytes(free.bytes_per_bank, units, Scale::core);
  const std::string largest = text::format_bytes(free.largest_per_bank, units, Scale::core);
  const std::string max =
      free.largest_per_bank == free.bytes_per_bank ? "" : fmt::format("max {}", largest);
  if (banks == 0) {
    return {fmt::format("{} {} per bank (largest block {})", name, in_bank, largest),
            fmt::format("{} {}/bank{}", name, in_bank, max.empty() ? "" : " (" + max + ")")};
  }
  const std::string all = text::format_bytes(saturating_mul(*free.bytes_per_bank, banks), units);
  return {
      fmt::format("{} {} ({} x {}, largest block {})", name, all, plural(banks, "bank", "banks"),
                  in_bank, largest),
      fmt::format("{} {} ({} x {}{})", name, all, banks, in_bank, max.empty() ? "" : ", " + max)};
}

// Adds the row of the free bytes of all banks. Adds no row if the free bytes are unknown for all
// kinds.
void add_free(DeviceRows& rows, const Device& device, text::Units units) {
  DeviceRow row{What::free, "Free"};
  row.minor = true;
  for (const auto& [kind, name] :
       {std::pair(Kind::dram, "DRAM"), std::pair(Kind::l1, "L1"),
        std::pair(Kind::l1_small, "L1_SMALL"), std::pair(Kind::trace, "trace")}) {
    Note note = free_note(name, device.free[kind], banks_of(device, kind), units);
    if (!note.text.empty()) row.notes.push_back(std::move(note));
  }
  if (!row.notes.empty()) rows.push_back(std::move(row));
}

// Returns the note for a chip that no process has open: the capacity. If no process reported the
// capacity, the note also says how it is known.
std::vector<Note> idle_notes(const DeviceRow& row, const Device& device, text::Units units) {
  const bool whole = row.what == What::dram || row.what == What::l1;
  Note note;
  if (whole && row.capacity) {
    note = named("of", row.capacity, units);
  } else if (row.what == What::l1 && device.l1_bytes_per_core) {
    note = {"of " + text::format_bytes(device.l1_bytes_per_core, units, Scale::core) + " per core",
            {}};
  }
  if (note.text.empty() || device.capacities_from == Device::Statement::process) return {note};
  note.text +=
      device.capacities_from == Device::Statement::card ? " by card type" : " by chip type";
  return {note};
}

// Returns the notes for a row whose figures are known.
std::vector<Note> notes_of(const DeviceRow& row, const Device& device, text::Units units) {
  if (device.idle) return idle_notes(row, device, units);
  const Note of = named("of", row.capacity, units);
  const Note peak = named("peak", row.peak, units);
  switch (row.what) {
    case What::dram:
      return {logical_mark(row), of, peak, named("logical", device.logical(Kind::dram), units)};
    case What::l1:
      return {of, peak, {headroom_in_brief(device, units), {}}};
    case What::buffers:
      return {logical_mark(row), named("logical", device.logical(Kind::l1), units),
              lockstep_note(device, Kind::l1, units)};
    case What::small:
      return {lockstep_note(device, Kind::l1_small, units)};
    case What::cb:
      return {named("resident", device.cb_resident_bytes, units, "res"),
              named("logical", device.logical(Kind::cb), units, "log"), peak};
    case What::kernels:
      return kernel_notes(device, units);
    case What::trace:
      return {of, peak};
    default:
      return {};
  }
}

void add_anomalies(DeviceRows& rows, const Anomalies& found, text::Units units) {
  DeviceRow row{What::anomalies, "Anomalies"};
  row.tone = text::Tone::warn;
  const auto note = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count > 0) row.notes.push_back({plural(count, one, many), {}});
  };
  note(found.overlapping_buffers, "live buffer overlaps another", "live buffers overlap others");
  note(found.allocs_over_live, "allocation with an id in use", "allocations with ids in use");
  note(found.unknown_frees, "free of an unknown id", "frees of unknown ids");
  note(found.unknown_programs, "dispatch of an unplaced program",
       "dispatches of unplaced programs");
  note(found.bad_arguments, "call with bad arguments", "calls with bad arguments");
  note(found.left_at_close, "allocation left at close", "allocations left at close");
  if (found.left_at_close > 0) {
    row.notes.back().text +=
        fmt::format(" ({})", text::format_bytes(model::Bytes(found.left_at_close_bytes), units));
  }
  if (!row.notes.empty()) rows.push_back(std::move(row));
}

// Returns the state of the device as short texts, such as "in reset", "2 processes" and "60
// programs". Returns only "idle" for a chip that no process has open.
std::vector<std::string> counts_of(const Device& device) {
  if (device.idle) return {"idle"};
  std::vector<std::string> counts;
  if (device.in_reset) counts.emplace_back("in reset");
  const std::uint64_t living = model::living_processes(device);
  if (living > 0) {
    counts.push_back(plural(living, "process", "processes"));
  } else if (!device.holders.empty()) {
    counts.push_back(fmt::format("open in {}, nothing reported here",
                                 plural(device.holders.size(), "process", "processes")));
  } else if (device.driver_number && !device.holders_known) {
    counts.emplace_back("no process seen");
  } else if (counts.empty()) {
    counts.emplace_back("no living process");
  }
  if (device.programs)
    counts.push_back(text::mark_estimate(plural(*device.programs, "program", "programs"),
                                         device.cb_estimate.value_or(false)));
  return counts;
}

std::string model_of(const Device& device) {
  const std::string model = text::format_model(device.board, device.arch);
  return model.empty() ? "model n/a" : model;
}

}  // namespace

namespace {

// Returns the texts of the notes, without empty notes. Returns the brief forms if one of the notes
// that have a brief form would not fit in full into `width` cells.
std::vector<std::string> texts_to_fit(const std::vector<Note>& notes, std::size_t width,
                                      std::string_view between) {
  std::vector<std::string> full;
  std::vector<std::string> brief;
  std::vector<std::string> needed;  // all notes up to the last note that has a brief form
  for (const Note& note : notes) {
    if (note.text.empty()) continue;
    full.push_back(note.text);
    brief.push_back(note.brief.empty() ? note.text : note.brief);
    if (!note.brief.empty()) needed = full;
  }
  const bool fits = text::display_width(text::join(needed, between)) <= width;
  return fits ? full : brief;
}

}  // namespace

std::string notes_to_fit(const std::vector<Note>& notes, std::size_t width,
                         std::string_view between, bool count_rest) {
  return text::joined_to_fit(texts_to_fit(notes, width, between), width, between, count_rest);
}

std::vector<std::string> notes_in_lines(const std::vector<Note>& notes, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& text : texts_to_fit(notes, width, ", ")) {
    if (lines.empty()) {
      lines.push_back(text);
      continue;
    }
    constexpr std::size_t blank_and_comma = 2;
    lines.back() += ",";
    if (text::display_width(lines.back()) + blank_and_comma + text::display_width(text) <= width) {
      lines.back() += " " + text;
    } else {
      lines.push_back(text);
    }
  }
  return lines;
}

std::optional<double> DeviceRow::share() const { return text::share_of(used, capacity); }

text::BarPiece DeviceRow::piece() const {
  const double from = text::share_of(begin, capacity).value_or(0);
  return {from, from + share().value_or(0), tone};
}

namespace {

// Returns the mark before the size, such as "~" or ">=". Unlike a note, the mark is shown even if
// there is little room.
std::string mark_of(const DeviceRow& row, const Device& device) {
  const bool cb_estimate = device.cb_estimate.value_or(false);
  if (row.what == What::headroom && device.headroom_bytes_per_core) {
    return std::string(device.complete ? "" : "<=") + (cb_estimate ? "~" : "");
  }
  if (row.is_words() || !row.used) return {};
  const bool has_kernels = row.what == What::l1 || row.what == What::kernels;
  const bool has_cbs = row.what == What::l1 || row.what == What::cb;
  const bool estimate =
      (has_kernels && device.kernels_estimated_bytes.value_or(0) > 0) || (has_cbs && cb_estimate);
  return std::string(device.complete ? "" : ">=") + (estimate ? "~" : "");
}

}  // namespace

DeviceRows device_rows_without_notes(const Device& device, text::Units units) {
  DeviceRows rows;
  rows.push_back(memory(What::dram, "DRAM", device.used(Kind::dram), device.dram_capacity_bytes,
                        device.peak(Kind::dram), units));
  rows.back().as_asked_for = is_logical(device, Kind::dram);
  add_l1(rows, device, units);
  add_trace(rows, device, units);
  add_headroom(rows, device, units);
  add_free(rows, device, units);
  if (std::string words = sharing_text(device); !words.empty()) {
    rows.push_back({What::shared, "Shared"});
    rows.back().notes = {{std::move(words), "sums may overlap"}};
  }
  if (device.anomalies) add_anomalies(rows, *device.anomalies, units);
  for (DeviceRow& row : rows) row.mark = mark_of(row, device);
  return rows;
}

DeviceRows device_rows(const Device& device, text::Units units) {
  DeviceRows rows = device_rows_without_notes(device, units);
  for (DeviceRow& row : rows) {
    if (row.what == What::headroom) row.notes = headroom_notes(device);
    if (!row.is_words() && row.is_known()) row.notes = notes_of(row, device, units);
  }
  return rows;
}

const DeviceRow& row_of(const DeviceRows& rows, What what) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const DeviceRow& row) { return row.what == what; });
}

std::vector<text::BarPiece> l1_pieces(const DeviceRows& rows) {
  std::vector<text::BarPiece> pieces;
  for (const DeviceRow& row : rows) {
    if (row.is_part()) pieces.push_back(row.piece());
  }
  return pieces;
}

std::string_view name_of_part(text::Tone part, bool brief) {
  constexpr std::array<std::string_view, 4> full = {"L1 buffers", "L1_SMALL", "CB", "Kernels"};
  constexpr std::array<std::string_view, 4> narrow = {"L1 buf", "small", "CB", "kernels"};
  const auto i = static_cast<std::size_t>(part) - static_cast<std::size_t>(text::Tone::buffers);
  return brief ? narrow[i] : full[i];
}

DeviceTitle device_title(const Device& device) {
  DeviceTitle title{fmt::format("Device {}", device.id),
                    device.board.empty() ? device.arch : device.board,
                    {},
                    counts_of(device),
                    {}};
  // If two chips have the same number, the uid or else the PCI address is the first fact, because
  // facts are dropped from the end of the list.
  if (device.shares_number) {
    const bool is_unique = device.uid || !device.bus_id.empty();
    title.facts.push_back(is_unique ? text::format_identity(device) : "uid n/a");
  }
  title.facts.push_back(model_of(device));
  if (device.grid_x != 0 && device.grid_y != 0) {
    title.facts.push_back(fmt::format("{}x{} cores", device.grid_x, device.grid_y));
  }
  if (device.idle && device.card_chips > 1) {
    title.facts.push_back(fmt::format("1 of {} chips", device.card_chips));
  }
  std::vector<std::uint32_t> others = device.ids;
  std::erase(others, device.id);
  if (!others.empty()) title.facts.push_back("also called " + format_ids(others));
  if (device.temperature_c) title.sensors.push_back(fmt::format("{:.0f} C", *device.temperature_c));
  if (device.power_w) title.sensors.push_back(fmt::format("{:.0f} W", *device.power_w));
  if (device.aiclk_mhz) title.sensors.push_back(fmt::format("{} MHz", *device.aiclk_mhz));
  if (device.uid && !device.shares_number) title.uid = "uid " + text::format_hex(*device.uid);
  return title;
}

std::string sharing_text(const Device& device) {
  if (!model::may_overlap(device)) return {};
  return fmt::format("{} processes share this chip; sums may overlap",
                     model::holding_processes(device));
}

std::string headroom_in_brief(const Device& device, text::Units units) {
  const auto bytes = device.headroom_bytes_per_core;
  return fmt::format("{} {}{}", clashes(device) ? "CLASH" : "headroom",
                     text::format_signed_bytes(bytes, units, Scale::core),
                     bytes ? " per core" : "");
}

}  // namespace ttmem::views
