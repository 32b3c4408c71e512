// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyse/leaks/live_leaks.hpp"
#include "analyse/leaks/recorded_leaks.hpp"
#include "analyse/report/name_pattern.hpp"
#include "analyse/report/steady_growth.hpp"
#include "read/recording/file/writer.hpp"
#include "support/recorded_history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::leaks {
namespace {

using recording::Reader;
using recording::RowId;
using recording::Time;
using recording::Writer;

// Returns true if all values together show growth. Applies the definition of growth directly.
bool grows(const std::vector<std::uint64_t>& all) {
  const std::size_t skip = all.size() >= 8 ? 2 : all.size() >= 6 ? 1 : 0;
  const std::vector<std::uint64_t> values(all.begin() + static_cast<std::ptrdiff_t>(skip),
                                          all.end());
  if (values.size() < 3 || !std::is_sorted(values.begin(), values.end())) return false;
  const std::size_t steps = values.size() - 1;
  const std::size_t parts = std::min<std::size_t>(steps, 3);
  for (std::size_t part = 0; part < parts; ++part) {
    bool grew = false;
    for (std::size_t step = 0; step < steps; ++step) {
      if (step * 3 / steps != part && steps >= 3) continue;
      if (steps < 3 && step != part) continue;
      grew = grew || values[step + 1] > values[step];
    }
    if (!grew) return false;
  }
  return true;
}

RC_GTEST_PROP(SteadyGrowth, FollowsItsDefinition, ()) {
  const auto steps = *rc::gen::container<std::vector<int>>(
      rc::gen::weightedElement<int>({{6, 1}, {6, 0}, {1, -1}}));
  std::vector<std::uint64_t> values = {100};
  for (const int step : steps) values.push_back(values.back() + static_cast<std::uint64_t>(step));
  const auto looks = static_cast<std::uint32_t>(values.size());
  report::SteadyGrowth growth;
  for (std::uint32_t i = 0; i < looks; ++i) {
    // Adds no value that equals the previous value, because SteadyGrowth does not need such values.
    if (i == 0 || values[i] != values[i - 1]) growth.add(i, looks, values[i]);
  }
  RC_ASSERT(growth.is_steady(looks) == grows(values));
  if (!growth.is_steady(looks)) return;
  RC_ASSERT(growth.last() == values.back());
  RC_ASSERT(growth.first() == values[report::SteadyGrowth::warm_up(looks)]);
}

TEST(NamePattern, HidesNumbers) {
  EXPECT_EQ(report::name_pattern("request.17.logits"), "request.#.logits");
  EXPECT_EQ(report::name_pattern("12"), "#");
  EXPECT_EQ(report::name_pattern("kv"), "kv");
  EXPECT_EQ(report::name_pattern(""), "");
}

class File {
 public:
  File() {
    auto made = Writer::create(path(), recording::Run{}, false);
    writer_ = std::move(*made);
  }
  Writer& writer() { return *writer_; }
  Leaks leaks(const Filter& filter = {}) {
    EXPECT_TRUE(writer_->commit());
    const auto reader = Reader::open(path());
    auto found = recorded_leaks(**reader, filter, {});
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.ttmem"; }
  TemporaryDirectory directory_;
  std::unique_ptr<Writer> writer_;
};

// A process that allocates, frees and sets marks. Keeps a model of how many bytes each name has at
// each mark.
class Marked {
 public:
  Marked(Writer& writer, std::int32_t pid) : writer_(writer) {
    process_.pid = pid;
    process_.name = "model";
    process_.id = writer_.begin(process_);
    device_ = recording::small_wormhole(process_.id, 0, 7);
    device_.id = writer_.begin(device_);
    set_ = writer_.device_set(std::vector<RowId>{device_.id});
  }

  RowId allocate(const std::string& label, std::uint64_t bytes, Time time) {
    recording::RecordedRequest request;
    request.bytes = bytes;
    request.label = writer_.text(label);
    const RowId row = writer_.begin(recording::RecordedAllocation{
        .devices = set_, .request = writer_.request(request), .begin_ns = time});
    live_[row] = {report::name_pattern(label), bytes};
    return row;
  }
  void end(RowId row, Time time, recording::Ending ending) {
    writer_.end_allocation(row, time, ending);
    live_.erase(row);
  }
  void free_one(Time time) {
    if (!live_.empty()) end(live_.begin()->first, time, recording::Ending::freed);
  }
  void place(const std::string& name, Time time) {
    writer_.begin(recording::RecordedProgram{.device = device_.id,
                                             .layout = writer_.layout({}),
                                             .number = ++programs_,
                                             .name = writer_.text(name),
                                             .begin_ns = time});
  }
  void mark(const std::string& name, Time time) {
    writer_.add(recording::Mark{.time_ns = time, .process = process_.id, .name = name});
    std::map<std::string, std::uint64_t> sums;
    for (const auto& [row, held] : live_) sums[held.first] += held.second;
    for (const auto& [held, sum] : sums) at_marks_[held].resize(marks_);
    for (auto& [held, seen] : at_marks_) seen.push_back(sums[held]);
    ++marks_;
  }
  void finish(Time time, std::optional<bool> killed) {
    process_.end_ns = device_.end_ns = time;
    process_.killed = killed;
    writer_.change(device_);
    writer_.change(process_);
  }

  // Returns the names that grow, and their bytes at the last mark.
  [[nodiscard]] std::map<std::string, std::uint64_t> growing() const {
    std::map<std::string, std::uint64_t> found;
    for (const auto& [name, seen] : at_marks_) {
      if (grows(seen)) found[name] = seen.back();
    }
    return found;
  }

 private:
  Writer& writer_;
  recording::RecordedProcess process_;
  recording::RecordedDevice device_;
  RowId set_ = 0;
  std::uint64_t programs_ = 0;
  std::map<RowId, std::pair<std::string, std::uint64_t>> live_;
  std::map<std::string, std::vector<std::uint64_t>> at_marks_;
  std::size_t marks_ = 0;
};

RC_GTEST_PROP(RecordedLeaks, FindTheSameGrowthAsSumsOverAllMarks, ()) {
  File file;
  std::vector<Marked> processes;
  processes.emplace_back(file.writer(), 10);
  processes.emplace_back(file.writer(), 11);
  const int events = *rc::gen::inRange(10, 200);
  for (Time time = 1; time <= events; ++time) {
    Marked& process = processes[*rc::gen::inRange<std::size_t>(0, 2)];
    const int what = *rc::gen::inRange(0, 8);
    if (what < 3) {
      process.mark("step " + std::to_string(time), time);
    } else if (what == 3) {
      process.free_one(time);
    } else {
      const auto label =
          *rc::gen::element<std::string>("kv.1", "kv.2", "weights", "scratch", "state");
      process.allocate(label, *rc::gen::inRange<std::uint64_t>(1, 50), time);
    }
  }
  std::map<std::int32_t, std::map<std::string, std::uint64_t>> found = {{10, {}}, {11, {}}};
  for (const report::Growth& growth : file.leaks().growth) {
    found[growth.pid][report::name_pattern(growth.label)] = growth.last_bytes.value();
  }
  RC_ASSERT(found[10] == processes[0].growing());
  RC_ASSERT(found[11] == processes[1].growing());
}

TEST(RecordedLeaks, ProgramsCachedAtEveryMarkGrow) {
  File file;
  Marked process(file.writer(), 10);
  process.place("add", 1);
  for (Time time = 2; time < 20; time += 2) {
    process.place("matmul", time);
    process.mark("step", time + 1);
  }
  const Leaks leaks = file.leaks();
  ASSERT_EQ(leaks.growth.size(), 2U);
  for (const report::Growth& growth : leaks.growth) {
    EXPECT_EQ(growth.kind, Kind::cb);
    EXPECT_EQ(growth.mark, "step");
    EXPECT_EQ(growth.marks, 9U);
    EXPECT_EQ(growth.label, growth.all_programs ? "" : "matmul");
    EXPECT_EQ(growth.last_count, growth.all_programs ? 10U : 9U);
    EXPECT_EQ(growth.last_bytes.has_value(), growth.all_programs);
  }
  Filter dram;
  dram.kinds = {Kind::dram};
  EXPECT_TRUE(file.leaks(dram).growth.empty());
}

TEST(RecordedLeaks, DistinguishTheEndOfAProcessFromTheEndOfADevice) {
  File file;
  Marked killed(file.writer(), 10);
  Marked exited(file.writer(), 11);
  Marked unclean(file.writer(), 12);
  killed.end(killed.allocate("freed", 1, 1), 2, recording::Ending::freed);
  killed.end(killed.allocate("closed", 100, 3), 8, recording::Ending::device_closed);
  killed.end(killed.allocate("held", 30, 4), 9, recording::Ending::process_ended);
  killed.end(killed.allocate("held", 40, 5), 9, recording::Ending::process_ended);
  exited.end(exited.allocate("held", 50, 6), 9, recording::Ending::process_ended);
  unclean.end(unclean.allocate("held", 20, 7), 9, recording::Ending::process_ended);
  killed.finish(9, true);
  exited.finish(9, false);
  unclean.finish(9, std::nullopt);
  const Leaks leaks = file.leaks();
  ASSERT_EQ(leaks.closed_device.size(), 1U);
  EXPECT_EQ(leaks.closed_device[0].label, "closed");
  EXPECT_EQ(leaks.closed_device[0].begin_ns, 3);
  ASSERT_EQ(leaks.dead_process.size(), 3U);
  EXPECT_EQ(leaks.dead_process[0].bytes_on.on_all(), 70U);
  EXPECT_EQ(leaks.dead_process[0].count, 2U);
  EXPECT_EQ(leaks.dead_process[0].begin_ns, 4);
  EXPECT_EQ(leaks.dead_process[0].killed, true);
  EXPECT_EQ(leaks.dead_process[1].bytes_on.on_all(), 50U);
  EXPECT_EQ(leaks.dead_process[1].killed, false);
  EXPECT_EQ(leaks.dead_process[2].bytes_on.on_all(), 20U);
  EXPECT_EQ(leaks.dead_process[2].killed, std::nullopt);
  Filter other;
  other.pid = 11;
  EXPECT_EQ(file.leaks(other).dead_process.size(), 1U);
  EXPECT_TRUE(file.leaks(other).closed_device.empty());
}

bool has_text(const std::vector<std::string>& list, const std::string& text) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

TEST(RecordedLeaks, AreCompleteOnlyWhenNothingWasLostAndTheRecorderEnded) {
  recording::Run run;
  for (const bool is_killed : {false, true}) {
    for (const std::uint64_t lost : {0U, 3U}) {
      File file;
      Marked first(file.writer(), 10);
      Marked second(file.writer(), 11);
      run.lost_events = lost;
      run.ended_ns = is_killed ? std::nullopt : std::optional<Time>(100);
      EXPECT_TRUE(file.writer().finish(run));
      const Leaks leaks = file.leaks();
      EXPECT_EQ(leaks.saw == Leaks::Saw::all, !is_killed && lost == 0);
      EXPECT_TRUE(has_text(leaks.unknown,
                           "2 processes were still running when the recording "
                           "ended, and may yet free what they hold"));
    }
  }
}

// Returns a snapshot of a process that has one buffer for each pair of label and size.
model::Snapshot snapshot_with(const std::vector<std::pair<std::string, std::uint64_t>>& buffers) {
  model::Snapshot snapshot;
  model::Device& device = snapshot.devices.emplace_back();
  model::Process& process = device.processes.emplace_back();
  process.pid = 7;
  process.name = "server";
  for (const auto& [label, bytes] : buffers) {
    model::Allocation& allocation = snapshot.allocations.emplace_back();
    allocation.pid = 7;
    allocation.label = label;
    allocation.bytes = bytes;
  }
  return snapshot;
}

TEST(LiveLeaks, CountsAreUnknownWhereOnlyBytesAreKnown) {
  model::Snapshot snapshot = snapshot_with({});
  model::Process& process = snapshot.devices[0].processes[0];
  process.state = model::State::dead;
  process.source = model::Source::tt_metal;
  process.kinds[Kind::l1].set(&KindFigures::used_bytes, 4096);
  process.kinds[Kind::cb].set(&KindFigures::used_bytes, 512);
  const Leaks leaks = live_leaks(snapshot, Filter{});
  ASSERT_EQ(leaks.dead_process.size(), 2U);
  EXPECT_EQ(leaks.dead_process[0].bytes_on.on_all(), 4096U);
  EXPECT_FALSE(leaks.dead_process[0].count);
  EXPECT_EQ(leaks.dead_process[1].bytes_on.on_all(), 512U);
  EXPECT_FALSE(leaks.dead_process[1].count);
}

TEST(LiveGrowth, ListsNamesThatGrowFromSampleToSample) {
  LiveGrowth growth{Filter{}};
  std::vector<std::pair<std::string, std::uint64_t>> lost;
  for (std::uint64_t i = 0; i < 10; ++i) {
    lost.emplace_back("request." + std::to_string(i) + ".logits", 100);
    auto now = lost;
    now.emplace_back("weights", 5000);
    now.emplace_back("activation", 100 * (i % 3));
    // The cache grows at first, then keeps its size.
    if (i > 0) now.emplace_back("cache", 10 * std::min<std::uint64_t>(i, 4));
    growth.look(snapshot_with(now));
  }
  const std::vector<report::Growth> found = growth.growth();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].label, "request.#.logits");
  EXPECT_EQ(found[0].process, "server");
  EXPECT_EQ(found[0].first_bytes, 300U) << "after the warm-up";
  EXPECT_EQ(found[0].last_bytes, 1000U);
  EXPECT_EQ(found[0].last_count, 10U);
  EXPECT_EQ(found[0].marks, 10U);
}

TEST(LiveGrowth, ProgramsWithShrinkingCircularBuffersHaveNoGrowthInBytes) {
  LiveGrowth growth{Filter{}};
  for (std::uint64_t look = 0; look < 5; ++look) {
    model::Snapshot snapshot = snapshot_with({{"kv", 100 + 10 * look}});
    model::Process& process = snapshot.devices[0].processes[0];
    process.kinds[Kind::cb].set(&KindFigures::used_bytes, 4096 - 512 * look);
    for (std::uint64_t i = 0; i <= look; ++i) {
      model::Program& program = snapshot.programs.emplace_back();
      program.pid = process.pid;
      program.name = "matmul";
    }
    growth.look(snapshot);
  }
  const std::vector<report::Growth> found = growth.growth();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].label, "kv") << "the most bytes first";
  EXPECT_EQ(found[0].grown_bytes(), 40U);
  for (const std::size_t programs : {1U, 2U}) {
    EXPECT_EQ(found[programs].kind, Kind::cb);
    EXPECT_EQ(found[programs].grown_bytes(), 0U);
  }
}

TEST(LiveGrowth, AFewSamplesShowNoGrowth) {
  LiveGrowth growth{Filter{}};
  growth.look(snapshot_with({{"a", 1}}));
  growth.look(snapshot_with({{"a", 2}}));
  EXPECT_TRUE(growth.growth().empty());
}

}  // namespace
}  // namespace ttmem::leaks
