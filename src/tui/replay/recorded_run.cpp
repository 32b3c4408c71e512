// SPDX-License-Identifier: Apache-2.0
#include "tui/replay/recorded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "model/device_name.hpp"
#include "views/format.hpp"

namespace ttmem::tui {
namespace {

using recording::Time;
using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kSamples = 500;       // of a recording, for the charts
constexpr std::uint64_t kEveryEvent = 2000;  // up to so many rows each event is a sample
constexpr std::chrono::milliseconds kBudget{3000};

// The moments to look at: evenly spread, and in a short recording those of all events.
Result<std::vector<Time>> moments_of(const recording::Reader& reader) {
  const Time end = reader.end_ns();
  std::vector<Time> times;
  for (std::int64_t i = 0; i < kSamples; ++i) times.push_back(end / kSamples * i);
  times.push_back(end);
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

// The highest so far, and when it was first.
struct Highest {
  std::uint64_t bytes = 0;
  Time time_ns = 0;

  void see(model::Bytes now, Time time) {
    if (now.value_or(0) > bytes) *this = {*now, time};
  }
};

// A device in the course of the recording.
struct Course {
  model::Device device;  // as it was last
  std::vector<Sample> samples;
  Highest l1;
  Highest dram;

  void see(const model::Device& now, Time time) {
    samples.push_back(sample_of(now, static_cast<std::uint64_t>(time)));
    l1.see(now.l1_used_bytes, time);
    dram.see(now.used(Kind::dram), time);
  }
};

void add_peaks(const Course& course, Tape& tape) {
  const std::string device = views::format_device(course.device);
  if (course.l1.bytes != 0) {
    tape.peaks.push_back({course.l1.time_ns, fmt::format("L1 of device {}", device)});
  }
  if (course.dram.bytes != 0) {
    tape.peaks.push_back({course.dram.time_ns, fmt::format("DRAM of device {}", device)});
  }
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
  if (const auto done = run->look_over(*tape); !done) return done.error();
  run->tape_ = std::move(tape);
  return run;
}

// A snapshot of much takes long, and a chart does with fewer: some moments are left out then.
Result<void> RecordedRun::look_over(Tape& tape) {
  const auto moments = moments_of(*reader_);
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
      course.see(device, (*moments)[i]);
      course.device = device;
    }
  }
  for (const auto& [name, course] : courses) {
    history_.prepend(course.device, course.samples);
    add_peaks(course, tape);
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
