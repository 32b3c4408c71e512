// SPDX-License-Identifier: Apache-2.0
#include "show/tui/replay/recorded_run.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "read/recording/file/writer.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::tui {
namespace {

using recording::RowId;

// Writes a recording. The DRAM figure is 1 MiB from time 10, 3 MiB from time 400, 1 MiB from time
// 401 and 0 from time 900. Before time 400 an L1 buffer of one byte is allocated and freed `others`
// times.
void write_recording(const std::string& path, int others = 0) {
  auto made = recording::Writer::create(path, {}, false);
  ASSERT_TRUE(made) << made.error().message;
  recording::Writer& writer = **made;
  const RowId process = writer.begin(recording::RecordedProcess{.pid = 7, .name = "model"});
  recording::RecordedDevice device{
      .process = process, .arch = "wormhole_b0", .grid_x = 8, .grid_y = 8};
  device.known_kinds = 0x7f;
  const RowId devices = writer.device_set(std::vector<RowId>{writer.begin(device)});
  const auto allocate = [&](recording::Time time, std::uint64_t mib, std::uint64_t number) {
    recording::RecordedRequest request{.kind = Kind::dram};
    request.bytes = mib << 20;
    return writer.begin(recording::RecordedAllocation{.devices = devices,
                                                      .request = writer.request(request),
                                                      .number = number,
                                                      .begin_ns = time});
  };
  const RowId first = allocate(10, 1, 1);
  for (int i = 0; i < others; ++i) {
    const recording::RecordedRequest byte{.kind = Kind::l1, .bytes = 1};
    const RowId other = writer.begin(recording::RecordedAllocation{
        .devices = devices, .request = writer.request(byte), .number = 9, .begin_ns = 20});
    writer.end_allocation(other, 21, recording::Ending::freed);
  }
  const RowId second = allocate(400, 2, 2);
  writer.end_allocation(second, 401, recording::Ending::freed);
  writer.end_allocation(first, 900, recording::Ending::freed);
  writer.add(recording::Mark{.time_ns = 300, .process = process, .name = "warm"});
  writer.add(recording::Gap{.process = process, .begin_ns = 500, .end_ns = 600, .lost_events = 4});
  recording::Run run;
  run.ended_ns = 1000;
  ASSERT_TRUE(writer.finish(run));
}

TEST(RecordedRun, KnowsItsMarksGapsPeaksAndFigures) {
  const TemporaryDirectory directory;
  write_recording(directory.path() + "/run.ttmem");
  const auto run = RecordedRun::open(directory.path() + "/run.ttmem");
  ASSERT_TRUE(run) << run.error().message;
  const Tape& tape = *(*run)->tape();
  EXPECT_EQ(tape.name, "run.ttmem");
  EXPECT_EQ(tape.end_ns, 1000);
  ASSERT_EQ(tape.marks.size(), 1U);
  EXPECT_EQ(tape.marks[0].name, "warm");
  ASSERT_EQ(tape.gaps.size(), 1U);
  EXPECT_EQ(tape.gaps[0].lost_events, 4U);
  ASSERT_EQ(tape.peaks.size(), 1U);
  EXPECT_EQ(tape.peaks[0].what, "DRAM of device 0");
  EXPECT_EQ(tape.peaks[0].time_ns, 400);

  const auto dram_at = [&](std::int64_t time) {
    return (*run)->at(time).devices.at(0).used(Kind::dram).value_or(0) >> 20;
  };
  EXPECT_EQ(dram_at(400), 3U);
  EXPECT_EQ(dram_at(950), 0U);
  EXPECT_EQ(dram_at(20), 1U);  // goes back in time
  const auto& samples = (*run)->history().of((*run)->at(20).devices.at(0));
  std::uint64_t most = 0;
  for (const ChartSample& sample : samples)
    most = std::max(most, sample.dram_bytes.value_or(0) >> 20);
  EXPECT_EQ(most, 3U);
  EXPECT_EQ(samples.back().time_unix_ns, 1000U);
}

TEST(RecordedRun, KnowsThePeaksOfALongRecording) {
  const TemporaryDirectory directory;
  write_recording(directory.path() + "/run.ttmem", 3000);
  const auto run = RecordedRun::open(directory.path() + "/run.ttmem");
  ASSERT_TRUE(run) << run.error().message;
  const auto& peaks = (*run)->tape()->peaks;
  ASSERT_EQ(peaks.size(), 2U);
  EXPECT_EQ(peaks[0].what, "L1 of device 0");
  EXPECT_EQ(peaks[0].time_ns, 20);
  EXPECT_EQ(peaks[1].what, "DRAM of device 0");
  EXPECT_EQ(peaks[1].time_ns, 400);
}

TEST(RecordedRun, RefusesOtherFiles) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/run.ttmem";
  EXPECT_FALSE(RecordedRun::open(path));
  std::ofstream(path) << "hello";
  EXPECT_FALSE(RecordedRun::open(path));
}

}  // namespace
}  // namespace ttmem::tui
