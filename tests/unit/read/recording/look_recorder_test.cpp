// SPDX-License-Identifier: Apache-2.0
#include "read/recording/looks/look_recorder.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "read/recording/file/reader.hpp"
#include "read/recording/playback/playback.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::recording {
namespace {

constexpr Time kSecond = 1'000'000'000;

model::Process process(std::int32_t pid) {
  model::Process p;
  p.pid = pid;
  p.segment = static_cast<std::uint64_t>(pid) * 10;
  p.name = "python3";
  p.kinds[Kind::dram].set(&KindFigures::used_bytes, 0);
  p.kinds[Kind::cb].set(&KindFigures::used_bytes, 0);
  return p;
}

model::Snapshot machine() {
  model::Snapshot snapshot;
  snapshot.host = "node7";
  model::Device& device = snapshot.devices.emplace_back();
  device.uid = 0x1f00a;
  device.grid_x = device.grid_y = 8;
  device.dram_channels = 12;
  device.dram_capacity_bytes = 12ULL << 30;
  device.l1_bytes_per_core = 1'499'136;
  device.l1_base = 105'664;
  device.processes = {process(7)};
  return snapshot;
}

model::Allocation dram(std::uint64_t id, std::uint64_t per_bank, std::uint64_t age_ns) {
  model::Allocation a;
  a.pid = 7;
  a.segment = 70;
  a.id = id;
  a.address = 1024 * id;
  a.bytes = 12 * per_bank;
  a.bytes_per_bank = per_bank;
  a.banks = 12;
  a.age_ns = age_ns;
  a.label = "weights";
  a.scope = "decoder.0";
  return a;
}

model::Program program(std::uint64_t id, std::uint64_t bytes) {
  model::Program p;
  p.pid = 7;
  p.segment = 70;
  p.program = id;
  model::CircularBuffer& cb = p.cbs.emplace_back();
  cb.address = 105'664;
  cb.bytes = bytes;
  cb.cores.set(0);
  cb.cores.set(1);
  return p;
}

class LookRecorderTest : public ::testing::Test {
 protected:
  LookRecorderTest() {
    recording::Run run;
    run.started_unix_ns = 1;
    auto made = Writer::create(path(), run, false);
    EXPECT_TRUE(made) << made.error().message;
    writer_ = std::move(*made);
    recorder_ = std::make_unique<LookRecorder>(*writer_, std::nullopt);
  }

  [[nodiscard]] std::string path() const { return directory_.path() + "/looks.ttmem"; }

  void finish(Time time) {
    recording::Run run;
    run.ended_ns = time;
    const auto written = writer_->finish(run);
    EXPECT_TRUE(written) << written.error().message;
    auto opened = Reader::open(path());
    ASSERT_TRUE(opened) << opened.error().message;
    reader_ = std::move(*opened);
  }

  // DRAM and circular buffers of the only device.
  std::pair<std::uint64_t, std::uint64_t> used_at(Time time) {
    Playback playback(*reader_);
    const auto advanced = playback.advance_to(time);
    EXPECT_TRUE(advanced) << advanced.error().message;
    const model::Snapshot snapshot = playback.snapshot();
    if (snapshot.devices.size() != 1) return {};
    return {snapshot.devices[0].used(Kind::dram).value_or(0),
            snapshot.devices[0].used(Kind::cb).value_or(0)};
  }
  std::vector<RecordedAllocation> allocations() {
    std::vector<RecordedAllocation> all;
    EXPECT_TRUE(
        reader_->for_each_allocation([&](const RecordedAllocation& one) { all.push_back(one); }));
    return all;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<LookRecorder> recorder_;
  std::unique_ptr<Reader> reader_;
};

using Used = std::pair<std::uint64_t, std::uint64_t>;

TEST_F(LookRecorderTest, WhatDiffersBeganOrEndedInBetween) {
  model::Snapshot snapshot = machine();
  snapshot.allocations = {dram(1, 1000, 5 * kSecond)};
  recorder_->look(snapshot, 0);
  snapshot.allocations = {dram(1, 1000, 6 * kSecond), dram(2, 500, kSecond / 4)};
  snapshot.programs = {program(9, 4096)};
  recorder_->look(snapshot, kSecond);
  recorder_->look(snapshot, 2 * kSecond);  // nothing new
  snapshot.allocations.erase(snapshot.allocations.begin());
  snapshot.programs = {program(9, 8192)};  // another layout
  recorder_->look(snapshot, 3 * kSecond);
  finish(4 * kSecond);

  EXPECT_EQ(used_at(0), Used(12'000, 0));
  EXPECT_EQ(used_at(kSecond * 3 / 4 - 1), Used(12'000, 0));
  EXPECT_EQ(used_at(kSecond * 3 / 4), Used(18'000, 0)) << "its age says when it began";
  EXPECT_EQ(used_at(kSecond), Used(18'000, 2 * 4096));
  EXPECT_EQ(used_at(3 * kSecond), Used(6'000, 2 * 8192));
  const std::vector<RecordedAllocation> all = allocations();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].begin_ns, -5 * kSecond);
  EXPECT_EQ(all[0].end_ns, 2 * kSecond) << "it is certain to have lived until the look before";
  EXPECT_EQ(all[0].ending, Ending::gap);
  EXPECT_EQ(all[1].ending, Ending::none);
  ASSERT_EQ(reader_->tables().gaps.size(), 2U) << "only where something changed";
  EXPECT_EQ(reader_->tables().gaps[1].begin_ns, 2 * kSecond);
  EXPECT_EQ(reader_->tables().gaps[1].end_ns, 3 * kSecond);
  EXPECT_EQ(recorder_->events(), 6U);
}

TEST_F(LookRecorderTest, AProcessThatDiedHeldWhatItHeld) {
  model::Snapshot snapshot = machine();
  snapshot.allocations = {dram(1, 1000, 0)};
  recorder_->look(snapshot, 0);
  snapshot.devices[0].processes[0].state = model::State::dead;
  snapshot.allocations[0].state = model::State::dead;
  recorder_->look(snapshot, kSecond);
  EXPECT_EQ(recorder_->running(), 0U);
  finish(kSecond);
  EXPECT_EQ(allocations()[0].ending, Ending::process_ended);
  ASSERT_EQ(reader_->tables().processes.size(), 1U);
  EXPECT_TRUE(reader_->tables().processes[0].killed);
  EXPECT_EQ(reader_->tables().processes[0].end_ns, 0);
}

TEST_F(LookRecorderTest, AProcessThatGoesAndOneThatComes) {
  model::Snapshot snapshot = machine();
  snapshot.allocations = {dram(1, 1000, 0)};
  recorder_->look(snapshot, 0);
  model::Snapshot empty;
  recorder_->look(empty, kSecond);
  EXPECT_EQ(recorder_->running(), 0U);
  snapshot.devices[0].processes = {process(8)};
  snapshot.allocations[0].pid = 8;
  snapshot.allocations[0].segment = 80;
  snapshot.allocations[0].age_ns = 90 * kSecond;  // of a clock that lies
  recorder_->look(snapshot, 2 * kSecond);
  finish(2 * kSecond);
  ASSERT_EQ(allocations().size(), 2U);
  EXPECT_EQ(allocations()[0].ending, Ending::gap);
  EXPECT_EQ(allocations()[1].begin_ns, kSecond) << "not before the look that did not see it";
  EXPECT_EQ(recorder_->processes(), 2U);
  EXPECT_EQ(used_at(2 * kSecond), Used(12'000, 0));
}

// So many that it shows if each process looked at all allocations.
TEST_F(LookRecorderTest, EveryProcessBeganWithTheOldestThatItHas) {
  constexpr int kProcesses = 10'000;
  model::Snapshot snapshot = machine();
  snapshot.devices[0].processes.clear();
  for (int pid = 1; pid <= kProcesses; ++pid) {
    snapshot.devices[0].processes.push_back(process(pid));
    for (const Time age : {pid, 3 * pid, 2 * pid}) {
      model::Allocation& one = snapshot.allocations.emplace_back(
          dram(static_cast<std::uint64_t>(age), 1000, static_cast<std::uint64_t>(age)));
      one.pid = pid;
      one.segment = snapshot.devices[0].processes.back().segment;
    }
  }
  recorder_->look(snapshot, 0);
  finish(kSecond);
  const auto& rows = reader_->tables().processes;
  ASSERT_EQ(rows.size(), std::size_t{kProcesses});
  for (const RecordedProcess& row : rows) EXPECT_EQ(row.begin_ns, -3 * Time{row.pid});
}

// A server's pass may find a process gone whose lists it has read already.
TEST_F(LookRecorderTest, WhatIsListedOfAProcessThatIsNotEnds) {
  model::Snapshot snapshot = machine();
  snapshot.allocations = {dram(1, 1000, 0)};
  snapshot.programs = {program(9, 4096)};
  recorder_->look(snapshot, 0);
  snapshot.devices[0].processes.clear();
  snapshot.allocations.push_back(dram(2, 500, 0));
  recorder_->look(snapshot, kSecond);
  EXPECT_EQ(recorder_->running(), 0U);
  recorder_->look(snapshot, 2 * kSecond);
  finish(2 * kSecond);
  ASSERT_EQ(allocations().size(), 1U);
  EXPECT_EQ(allocations()[0].ending, Ending::gap);
  EXPECT_EQ(allocations()[0].end_ns, 0);
}

TEST_F(LookRecorderTest, WhatIsListedOnADeviceThatItsProcessHasLeftEnds) {
  model::Snapshot snapshot = machine();
  snapshot.devices.push_back(snapshot.devices[0]);
  snapshot.devices[1].uid = 0x1f00b;
  snapshot.allocations = {dram(1, 1000, 0)};
  recorder_->look(snapshot, 0);
  snapshot.devices[0].processes.clear();
  recorder_->look(snapshot, kSecond);
  EXPECT_EQ(recorder_->running(), 1U);
  finish(kSecond);
  ASSERT_EQ(allocations().size(), 1U);
  EXPECT_EQ(allocations()[0].ending, Ending::gap);
}

TEST_F(LookRecorderTest, AProcessThatIsNotTrackedOnOneOfItsDevices) {
  model::Snapshot snapshot = machine();
  snapshot.allocations = {dram(1, 1000, 0)};
  recorder_->look(snapshot, 0);
  snapshot.devices.push_back(snapshot.devices[0]);
  snapshot.devices[1].uid = 0x1f00b;
  snapshot.devices[1].processes[0].not_tracked = "it has no adapter";
  recorder_->look(snapshot, kSecond);
  EXPECT_EQ(recorder_->running(), 1U);
  finish(kSecond);
  EXPECT_EQ(used_at(kSecond), Used(12'000, 0)) << "the only device that it is recorded on";
}

TEST_F(LookRecorderTest, OnlyTheProcessThatWasNamed) {
  LookRecorder one(*writer_, 8);
  model::Snapshot snapshot = machine();
  snapshot.devices[0].processes.push_back(process(8));
  snapshot.allocations = {dram(1, 1000, 0), dram(2, 500, 0)};
  snapshot.allocations[1].pid = 8;
  snapshot.allocations[1].segment = 80;
  EXPECT_TRUE(LookRecorder::finds_any(snapshot, 8));
  EXPECT_FALSE(LookRecorder::finds_any(snapshot, 9));
  one.look(snapshot, 0);
  EXPECT_EQ(one.running(), 1U);
  finish(kSecond);
  EXPECT_EQ(used_at(0), Used(6'000, 0));
}

}  // namespace
}  // namespace ttmem::recording
