// SPDX-License-Identifier: Apache-2.0
#include "show/views/programs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyse/selection/select.hpp"
#include "show/views/device_list.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::views {
namespace {

using model::Program;
using model::Snapshot;

std::string residency_of(const Program& program) {
  if (program.resident_cores == 0) return "placed";
  if (program.resident_cores == program.cores) return "resident";
  return fmt::format("resident {}/{}", program.resident_cores, program.cores);
}

std::vector<text::TableCell> row_of(const Snapshot& snapshot, const Program& p, text::Units units) {
  const bool dead = p.state == model::State::dead;
  const text::Color color = dead ? text::Color::red : text::Color::plain;
  const model::Process* process = selection::process_of(snapshot, p);
  const bool known = p.device < snapshot.devices.size();
  const std::string origin = model::origin_of(p.scope, p.name);
  const model::Bytes on_device = known ? snapshot.devices[p.device].used(Kind::cb) : std::nullopt;
  return {
      {fmt::format("{}", p.program), color},
      {known ? text::format_device_briefly(snapshot.devices[p.device])
             : std::string(text::kUnknown),
       color},
      {process ? text::format_pid(*process) : fmt::format("{}", p.pid), color},
      {fmt::format("{}", p.cbs.size()), color},
      {text::format_bytes(model::Bytes(p.bytes_per_core), units, Scale::core), text::Color::bold},
      {fmt::format("{}", p.cores), color},
      {text::format_bytes(model::Bytes(p.physical_bytes), units), color},
      // The program of a dead process has no share, because the device's used bytes do not include
      // it.
      {dead ? std::string(text::kUnknown)
            : text::format_share(text::share_of(p.physical_bytes, on_device)),
       color},
      {text::format_bytes(model::Bytes(p.exclusive_bytes), units), color},
      {text::format_bytes(model::Bytes(p.logical_bytes), units), color},
      {text::format_age(p.age_ns), color},
      {origin.empty() ? std::string(text::kUnknown) : origin,
       origin.empty() ? text::Color::dim : color},
      {dead ? "dead" : residency_of(p),
       p.resident_cores > 0 && !dead ? text::Color::green : color}};
}

// Returns a table without rows. In a narrow terminal most figures are dropped before the labels. If
// no program has a label, the column of labels is dropped first.
text::Table program_table(bool has_names) {
  using enum text::Column::Align;
  return text::Table({{"PROGRAM"},
                      {"DEV"},
                      {"PID", right, 2},
                      {"CBS", right, 5},
                      {"PER CORE"},
                      {"CORES", right, 1},
                      {"PHYSICAL"},
                      {"SHARE", right, 3},
                      {"FREES", right, 4},
                      {"LOGICAL", right, 6},
                      {"AGE", right, 7},
                      {"LABEL", left, has_names ? 3 : 8, text::Column::Cut::middle},
                      {"STATE", left}});
}

// Returns the text for a list without programs. It has a line for each device that has circular
// buffers in use, which says that no process reported the programs of these buffers.
std::string cbs_without_programs(const Snapshot& snapshot, const text::TextOptions& options) {
  std::string text;
  for (const model::Device& device : snapshot.devices) {
    if (device.used(Kind::cb).value_or(0) == 0) continue;
    text += text::wrapped(
        fmt::format("Device {} has {} of circular buffers whose programs nobody reports.",
                    device.id, text::format_bytes(device.used(Kind::cb))),
        0, text::Color::plain, options);
  }
  return text;
}

}  // namespace

std::string programs_text(const Snapshot& snapshot, const std::vector<Program>& programs,
                          std::size_t limit, const text::TextOptions& options) {
  if (programs.empty()) {
    if (snapshot.blind()) return no_device_text(snapshot, options);
    std::string unnamed =
        cbs_without_programs(snapshot, options) + not_complete_text(snapshot, options);
    if (!unnamed.empty()) return unnamed;
    return text::wrapped("No live program has circular buffers on a device.", 0, text::Color::plain,
                         options);
  }
  const std::size_t shown = std::min(limit, programs.size());
  const auto end = programs.begin() + static_cast<std::ptrdiff_t>(shown);
  text::Table table = program_table(
      std::any_of(programs.begin(), end, [](const Program& p) { return !p.name.empty(); }));
  for (std::size_t i = 0; i < shown; ++i)
    table.add_row(row_of(snapshot, programs[i], options.units));
  std::string text = table.render(0, options) + "\n";
  if (shown < programs.size()) {
    text += text::wrapped(
        fmt::format("{} more, each with less; `--limit {}` shows all.",
                    plural(programs.size() - shown, "program", "programs"), programs.size()),
        0, text::Color::plain, options);
  }
  return text + text::wrapped(
                    "SHARE: of the CB bytes of the device; shares of programs at the same "
                    "addresses overlap. FREES: what the end of that program alone would free. "
                    "STATE: resident on the cores "
                    "where it was dispatched last, else placed.",
                    0, text::Color::dim, options);
}

}  // namespace ttmem::views
