// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/lines.hpp"

#include <algorithm>
#include <utility>

#include "show/exports/usage.hpp"

namespace ttmem::viewer {
namespace {

using exports::Selection;
using exports::Usage;
using recording::Event;
using recording::RowId;

// The number of stretches (see ThinnedLine) of all chips together. It is enough for the width of a
// screen, and few enough to be sent. A chip has at least kMinPerChip and at most kMaxPerChip.
constexpr std::size_t kStretches = 16000;
constexpr std::size_t kMinPerChip = 500;
constexpr std::size_t kMaxPerChip = 4000;

std::size_t stretches_for(std::size_t chips) {
  return std::clamp(kStretches / std::max<std::size_t>(chips, 1), kMinPerChip, kMaxPerChip);
}

// Builds the lines while the recording is read.
class Drawing {
 public:
  Drawing(const Selection& selection, const TimeRange& range)
      : range_(range),
        latest_(selection.chips().size(), Point{range.from_ns, {}}),
        lines_(selection.chips().size(),
               ThinnedLine(range, stretches_for(selection.chips().size()))) {}

  void add(std::size_t chip, const Point& point) {
    if (point.time_ns > range_.to_ns) return;
    if (point.time_ns > range_.from_ns) {
      begin();
      lines_[chip].add(point);
    }
    latest_[chip] = point;
  }

  [[nodiscard]] Lines take() {
    begin();
    Lines lines{.stretches = stretches_for(lines_.size())};
    for (std::size_t chip = 0; chip < lines_.size(); ++chip) {
      Point last = latest_[chip];
      if (std::exchange(last.time_ns, range_.to_ns) < range_.to_ns) lines_[chip].add(last);
      lines_[chip].finish();
      lines.is_thinned = lines.is_thinned || lines_[chip].is_thinned();
      lines.of_chip.push_back(lines_[chip].points());
    }
    return lines;
  }

 private:
  // Adds the bytes held at the begin of the range.
  void begin() {
    if (std::exchange(has_begun_, true)) return;
    for (std::size_t chip = 0; chip < lines_.size(); ++chip) {
      Point point = latest_[chip];
      point.time_ns = range_.from_ns;
      lines_[chip].add(point);
    }
  }

  TimeRange range_;
  bool has_begun_ = false;
  std::vector<Point> latest_;  // the latest point of each chip
  std::vector<ThinnedLine> lines_;
};

// Counts, for each chip, the open devices that report each kind. A kind that no open device reports
// is unknown.
class ChipReporters {
 public:
  ChipReporters(const recording::Tables& tables, const Selection& selection)
      : tables_(tables),
        selection_(selection),
        is_open_(tables.devices.size()),
        reporters_(selection.chips().size()),
        of_process_(tables.processes.size()) {
    for (const recording::RecordedDevice& device : tables.devices) {
      of_process_[static_cast<std::size_t>(device.process - 1)].push_back(device.id);
    }
  }

  // Returns true if the event opens or closes devices.
  bool apply(const Event& event) {
    switch (event.type) {
      case Event::Type::device_open:
        set(event.device->id, true);
        break;
      case Event::Type::device_close:
        set(event.device->id, false);
        break;
      case Event::Type::process_end:
        for (const RowId device : of_process_[static_cast<std::size_t>(event.process->id - 1)]) {
          set(device, false);
        }
        break;
      default:
        return false;
    }
    return true;
  }

  [[nodiscard]] bool knows(std::size_t chip, Kind kind) const {
    return reporters_[chip][kind] != 0;
  }

 private:
  void set(RowId device, bool open) {
    const std::size_t chip = selection_.chip_of(device);
    std::vector<bool>::reference is_open = is_open_[static_cast<std::size_t>(device - 1)];
    if (chip == Selection::kNone || is_open == open) return;
    is_open = open;
    const std::uint32_t known_kinds = tables_.device(device).known_kinds;
    for (const Kind kind : kDeviceKinds) {
      if ((known_kinds >> static_cast<unsigned>(kind) & 1) == 0) continue;
      std::uint32_t& reporters = reporters_[chip][kind];
      reporters = open ? reporters + 1 : reporters - 1;
    }
  }

  const recording::Tables& tables_;
  const Selection& selection_;
  std::vector<bool> is_open_;  // of each device, by its row
  // Number of open devices that report each kind, by chip.
  std::vector<PerKind<std::uint32_t>> reporters_;
  std::vector<std::vector<RowId>> of_process_;  // devices of each process
};

Result<void> draw_events(const recording::Reader& reader, const Selection& selection,
                         Drawing& drawing) {
  Usage usage(reader.tables(), selection);
  ChipReporters openings(reader.tables(), selection);
  bool opened = false;
  const auto draw = [&](std::size_t chip, Time time) {
    Point point{time, {}};
    for (const Kind kind : kDeviceKinds) {
      if (!openings.knows(chip, kind)) continue;
      point.used[kind] = usage.used_bytes(selection.chips()[chip], kind);
    }
    drawing.add(chip, point);
  };
  // Ignores dispatches, because they change no drawn figure.
  return exports::for_each_moment(
      reader, usage,
      [&](Time time, const std::vector<std::size_t>& changed) {
        // If a device was opened or closed, draws all chips, because figures of any chip may have
        // become known or unknown.
        if (std::exchange(opened, false)) {
          for (std::size_t chip = 0; chip < selection.chips().size(); ++chip) draw(chip, time);
        } else {
          for (const std::size_t chip : changed) draw(chip, time);
        }
      },
      [&](const Event& event) { opened = openings.apply(event) || opened; },
      recording::Telling::without_dispatches);
}

// Draws an aggregated recording, which contains samples of the processes instead of events.
void draw_samples(const recording::Tables& tables, const Selection& selection, Drawing& drawing) {
  std::vector<PerKind<Bytes>> used(tables.devices.size());
  const auto& samples = tables.timeline;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t chip = selection.chip_of(samples[i].device);
    if (chip == Selection::kNone) continue;
    used[static_cast<std::size_t>(samples[i].device - 1)][samples[i].kind] = samples[i].used_bytes;
    const bool more = i + 1 < samples.size() && samples[i + 1].time_ns == samples[i].time_ns &&
                      selection.chip_of(samples[i + 1].device) == chip;
    if (more) continue;
    Point point{samples[i].time_ns, {}};
    for (const RowId device : selection.chips()[chip].devices) {
      for (const Kind kind : kDeviceKinds) {
        const Bytes& one = used[static_cast<std::size_t>(device - 1)][kind];
        if (one) point.used[kind] = point.used[kind].value_or(0) + *one;
      }
    }
    drawing.add(chip, point);
  }
}

}  // namespace

Result<Lines> read_lines(const recording::Reader& reader, const Selection& selection,
                         const TimeRange& range) {
  Drawing drawing(selection, range);
  if (reader.tables().run.aggregate) {
    draw_samples(reader.tables(), selection, drawing);
  } else if (const auto drawn = draw_events(reader, selection, drawing); !drawn) {
    return drawn.error();
  }
  return drawing.take();
}

}  // namespace ttmem::viewer
