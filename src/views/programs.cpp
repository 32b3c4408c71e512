// SPDX-License-Identifier: Apache-2.0
#include "views/programs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "views/device_list.hpp"
#include "views/format.hpp"
#include "views/select.hpp"
#include "views/table.hpp"

namespace ttmem::views {
namespace {

using model::Program;
using model::Snapshot;

std::string residency_of(const Program& program) {
  if (program.resident_cores == 0) return "placed";
  if (program.resident_cores == program.cores) return "resident";
  return fmt::format("resident {}/{}", program.resident_cores, program.cores);
}

std::vector<Cell> row_of(const Snapshot& snapshot, const Program& p, Units units) {
  const bool dead = p.state == model::State::dead;
  const Color color = dead ? Color::red : Color::plain;
  const model::Process* process = process_of(snapshot, p);
  const bool known = p.device < snapshot.devices.size();
  const std::string origin = model::origin_of(p.scope, p.name);
  const model::Bytes on_device = known ? snapshot.devices[p.device].used(Kind::cb) : std::nullopt;
  return {
      {fmt::format("{}", p.program), color},
      {known ? format_device_briefly(snapshot.devices[p.device]) : std::string(kUnknown), color},
      {process ? format_pid(*process) : fmt::format("{}", p.pid), color},
      {fmt::format("{}", p.cbs.size()), color},
      {format_bytes(model::Bytes(p.bytes_per_core), units, Scale::core), Color::bold},
      {fmt::format("{}", p.cores), color},
      {format_bytes(model::Bytes(p.physical_bytes), units), color},
      // The programs of dead processes have no share in what the device holds now.
      {dead ? std::string(kUnknown) : format_share(share_of(p.physical_bytes, on_device)), color},
      {format_bytes(model::Bytes(p.exclusive_bytes), units), color},
      {format_bytes(model::Bytes(p.logical_bytes), units), color},
      {format_age(p.age_ns), color},
      {origin.empty() ? std::string(kUnknown) : origin, origin.empty() ? Color::dim : color},
      {dead ? "dead" : residency_of(p), p.resident_cores > 0 && !dead ? Color::green : color}};
}

// Names are worth more room than most figures; without any, their column is the first to go.
Table program_table(bool has_names) {
  using enum Column::Align;
  return Table({{"PROGRAM"},
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
                {"LABEL", left, has_names ? 3 : 8, Column::Cut::middle},
                {"STATE", left}});
}

// "Device 0 has 1.88 MiB of circular buffers whose programs nobody reports."
std::string cbs_without_programs(const Snapshot& snapshot, const TextOptions& options) {
  std::string text;
  for (const model::Device& device : snapshot.devices) {
    if (device.used(Kind::cb).value_or(0) == 0) continue;
    text +=
        wrapped(fmt::format("Device {} has {} of circular buffers whose programs nobody reports.",
                            device.id, format_bytes(device.used(Kind::cb))),
                0, Color::plain, options);
  }
  return text;
}

}  // namespace

std::string programs_text(const Snapshot& snapshot, const std::vector<Program>& programs,
                          std::size_t limit, const TextOptions& options) {
  if (programs.empty()) {
    if (snapshot.blind()) return no_device_text(snapshot, options);
    std::string unnamed =
        cbs_without_programs(snapshot, options) + not_complete_text(snapshot, options);
    if (!unnamed.empty()) return unnamed;
    return wrapped("No live program has circular buffers on a device.", 0, Color::plain, options);
  }
  const std::size_t shown = std::min(limit, programs.size());
  const auto end = programs.begin() + static_cast<std::ptrdiff_t>(shown);
  Table table = program_table(
      std::any_of(programs.begin(), end, [](const Program& p) { return !p.name.empty(); }));
  for (std::size_t i = 0; i < shown; ++i)
    table.add_row(row_of(snapshot, programs[i], options.units));
  std::string text = table.render(0, options) + "\n";
  if (shown < programs.size()) {
    text += wrapped(
        fmt::format("{} more, each with less; `--limit {}` shows all.",
                    plural(programs.size() - shown, "program", "programs"), programs.size()),
        0, Color::plain, options);
  }
  return text + wrapped(
                    "SHARE: of the CB bytes of the device; shares of programs at the same "
                    "addresses overlap. FREES: what the end of that program alone would free. "
                    "STATE: resident on the cores "
                    "where it was dispatched last, else placed.",
                    0, Color::dim, options);
}

}  // namespace ttmem::views
