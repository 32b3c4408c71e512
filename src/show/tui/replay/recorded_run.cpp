// SPDX-License-Identifier: Apache-2.0
#include "show/tui/replay/recorded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyse/report/make_report.hpp"
#include "read/model/device_name.hpp"

namespace ttmem::tui {
namespace {

using recording::Time;
using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kSamples = 500;  // number of evenly spread samples of a recording
// Maximum number of rows of a recording for which every event gets a sample.
constexpr std::uint64_t kEveryEvent = 2000;
constexpr std::chrono::milliseconds kBudget{3000};

// Returns the times to sample: evenly spread times and the times of the peaks. For a recording with
// at most kEveryEvent rows, also returns the time of every event.
Result<std::vector<Time>> moments_of(const recording::Reader& reader, const Tape& tape) {
  const Time end = tape.end_ns;
  std::vector<Time> times;
  for (std::int64_t i = 0; i < kSamples; ++i) times.push_back(end / kSamples * i);
  times.push_back(end);
  for (const Tape::Peak& peak : tape.peaks) times.push_back(peak.time_ns);
  if (reader.rows() <= kEveryEvent) {
    const auto read = reader.for_each_event([&](const recording::Event& event) {
      if (event.time_ns > 0 && event.time_ns < end) times.push_back(event.time_ns);
      return true;
    });
    if (!read) return read.error();
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

// A device and all its samples from the recording.
struct Course {
  model::Device device;  // state at the newest sample
  std::vector<ChartSample> samples;
};

// Returns the peaks of L1 and DRAM of each device, without peaks of 0 bytes.
std::vector<Tape::Peak> peaks_of(const report::Report& report) {
  std::vector<Tape::Peak> peaks;
  for (const report::DeviceReport& device : report.devices) {
    const auto add = [&](const std::optional<report::Extreme>& peak, const char* what) {
      if (!peak || peak->bytes <= 0) return;
      peaks.push_back(
          {std::max<Time>(peak->time_ns, 0), fmt::format("{} of device {}", what, device.id)});
    };
    add(device.l1_peak, "L1");
    add(device.peak[Kind::dram], "DRAM");
  }
  return peaks;
}

}  // namespace

RecordedRun::RecordedRun(std::unique_ptr<recording::Reader> reader)
    : reader_(std::move(reader)), playback_(*reader_) {}

Result<std::unique_ptr<RecordedRun>> RecordedRun::open(const std::string& path) {
  auto reader = recording::Reader::open(path);
  if (!reader) return reader.error();
  std::unique_ptr<RecordedRun> run(new RecordedRun(std::move(*reader)));
  const recording::Tables& tables = run->reader_->tables();
  auto tape = std::make_shared<Tape>();
  tape->name = path.substr(path.rfind('/') + 1);
  tape->end_ns = std::max<Time>(run->reader_->end_ns(), 0);
  for (const recording::Mark& mark : tables.marks) tape->marks.push_back({mark.time_ns, mark.name});
  for (const recording::Gap& gap : tables.gaps) {
    tape->gaps.push_back({gap.begin_ns, gap.end_ns, gap.lost_events});
  }
  const auto report = report::make_report(*run->reader_, {});
  if (!report) return report.error();
  tape->peaks = peaks_of(*report);
  if (const auto done = run->sample_moments(*tape); !done) return done.error();
  run->tape_ = std::move(tape);
  return run;
}

// Fills the chart history in about kBudget. A snapshot of many allocations takes long to make. If
// the work is behind schedule, skips moments.
Result<void> RecordedRun::sample_moments(const Tape& tape) {
  const auto moments = moments_of(*reader_, tape);
  if (!moments) return moments.error();
  std::map<model::DeviceName, Course> courses;
  const auto began = SteadyClock::now();
  const auto each = kBudget / static_cast<std::int64_t>(moments->size());
  for (std::size_t i = 0; i < moments->size(); ++i) {
    if (const auto done = playback_.advance_to((*moments)[i]); !done) return done.error();
    const bool is_late = SteadyClock::now() - began > each * static_cast<std::int64_t>(i + 60);
    if (is_late && i + 1 < moments->size()) continue;
    for (const model::Device& device : playback_.snapshot().devices) {
      Course& course = courses[model::name_of(device)];
      course.samples.push_back(sample_of(device, static_cast<std::uint64_t>((*moments)[i])));
      course.device = device;
    }
  }
  for (const auto& [name, course] : courses) {
    history_.prepend(course.device, course.samples);
  }
  return {};
}

const model::Snapshot& RecordedRun::at(std::int64_t time_ns) {
  const auto done = playback_.advance_to(time_ns);
  snapshot_ = playback_.snapshot();
  if (!done) snapshot_.warnings.push_back(done.error().message);
  return snapshot_;
}

}  // namespace ttmem::tui
