// SPDX-License-Identifier: Apache-2.0
//
// Simulates small recordings on a board.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyse/fit/fit.hpp"
#include "analyse/fit/fit_text.hpp"
#include "read/recording/file/writer.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::fit {
namespace {

using recording::Ending;
using recording::RecordedRequest;
using recording::RowId;
using recording::Time;
using recording::Writer;

constexpr std::uint64_t kMib = 1 << 20;

// A recording in which all pids and all device numbers are different.
class Recorded {
 public:
  Recorded() {
    auto made = Writer::create(path(), recording::Run{}, false);
    writer_ = std::move(*made);
  }

  Writer& writer() { return *writer_; }

  RowId process(const std::string& name) {
    return writer_->begin(recording::RecordedProcess{.pid = ++pids_, .name = name});
  }

  // Returns an n150 that was opened with the default settings.
  [[nodiscard]] static recording::RecordedDevice n150() {
    const placement::Board board = *placement::find_board("n150");
    return {.arch = std::string(placement::name_of(board.chip.arch)),
            .board = board.name,
            .grid_x = static_cast<std::uint16_t>(board.compute_grid.x),
            .grid_y = static_cast<std::uint16_t>(board.compute_grid.y),
            .l1_bytes_per_core = board.chip.l1_bytes_per_core,
            .l1_base = board.chip.l1_base,
            .dram_channels = board.dram_channels,
            .dram_bytes_per_channel = board.chip.dram_bytes_per_channel,
            .known_kinds = 0x7f};
  }
  RowId device(RowId process, recording::RecordedDevice device = n150()) {
    device.process = process;
    device.number = chips_;
    device.uid = ++chips_;
    return writer_->begin(device);
  }

  // Returns a request for DRAM, interleaved over all banks.
  [[nodiscard]] static RecordedRequest dram(std::uint64_t bytes_per_bank) {
    RecordedRequest request;
    request.has_bytes_per_bank = true;
    request.banks = 12;
    request.bytes = bytes_per_bank * request.banks;
    request.bytes_per_bank = bytes_per_bank;
    request.layout = {BufferLayout::Spread::interleaved, BufferLayout::Direction::usual, 0, 1024};
    return request;
  }
  RowId allocate(const std::vector<RowId>& devices, const RecordedRequest& request, Time time,
                 std::uint64_t number = 1) {
    return writer_->begin(recording::RecordedAllocation{.devices = writer_->device_set(devices),
                                                        .request = writer_->request(request),
                                                        .number = number,
                                                        .address = 1 << 20,
                                                        .begin_ns = time});
  }
  void place(RowId device, std::uint64_t number, Time time) {
    writer_->begin(recording::RecordedProgram{
        .device = device, .layout = writer_->layout({}), .number = number, .begin_ns = time});
  }

  [[nodiscard]] BoardFit on(const char* board, const CarryOptions& options = {}) {
    EXPECT_TRUE(writer_->commit());
    const auto reader = recording::Reader::open(path());
    auto found = fit(**reader, *placement::find_board(board), options);
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.ttmem"; }
  TemporaryDirectory directory_;
  std::unique_ptr<Writer> writer_;
  std::int32_t pids_ = 0;
  std::uint32_t chips_ = 0;
};

TEST(Simulation, ProgramsOfTwoProcessesWithEqualNumbersAreTwo) {
  Recorded run;
  const RowId first = run.device(run.process("first"));
  const RowId second = run.device(run.process("second"));
  run.place(first, 7, 10);
  run.place(second, 7, 10);
  EXPECT_EQ(run.on("n150").requests, 2u);
}

TEST(Simulation, AProgramOfAMeshIsOneProgram) {
  Recorded run;
  const RowId process = run.process("model");
  run.place(run.device(process), 7, 10);
  run.place(run.device(process), 7, 10);
  EXPECT_EQ(run.on("n150").requests, 1u);
}

TEST(Simulation, ABufferOfAMeshKeepsItsPlaceUntilItsLastDeviceDropsIt) {
  for (const bool dropped : {false, true}) {
    Recorded run;
    const RowId process = run.process("model");
    const std::vector<RowId> mesh = {run.device(process), run.device(process)};
    const RecordedRequest large = Recorded::dram(600 * kMib);
    const RowId row = run.allocate(mesh, large, 1);
    run.writer().end_part(row, {.devices = run.writer().device_set(std::vector{mesh[0]}),
                                .rest = run.writer().device_set(std::vector{mesh[1]}),
                                .end_ns = 10,
                                .ending = Ending::freed});
    if (dropped) run.writer().end_allocation(row, 20, Ending::freed);
    run.allocate(mesh, large, 30, 2);
    EXPECT_EQ(run.on("n150").failure.has_value(), !dropped);
    EXPECT_EQ(run.on("n150").requests, 2U);
  }
}

TEST(Simulation, AChangedBufferContinuesTheBufferOfItsOwnProcess) {
  Recorded run;
  const RowId first = run.process("first");
  const RowId second = run.process("second");
  const std::vector<RowId> mesh = {run.device(first), run.device(first)};
  const std::vector<RowId> other = {run.device(second), run.device(second)};
  const RecordedRequest large = Recorded::dram(600 * kMib);
  const RowId of_first = run.allocate(mesh, large, 1);
  const RowId of_second = run.allocate(other, large, 2);
  // At time 10 each process frees its buffer on one of its two devices. The second process's
  // remaining buffer is freed at time 20. The first process's remaining buffer is not freed.
  run.writer().end_allocation(of_first, 10, Ending::changed);
  run.writer().end_allocation(of_second, 10, Ending::changed);
  const RowId rest = run.allocate({other[0]}, large, 10);
  run.allocate({mesh[0]}, large, 10);
  run.writer().end_allocation(rest, 20, Ending::freed);
  run.allocate(mesh, large, 30, 2);
  const BoardFit judged = run.on("n150");
  ASSERT_TRUE(judged.failure) << "the first process still has its buffer";
  EXPECT_EQ(judged.failure->process, "first");
}

// Allocates four DRAM buffers and frees the second and the fourth. The free half of a bank then
// consists of two blocks. A buffer that needs the bytes of both blocks does not fit.
void fragment(Recorded& run, RowId device, Time time) {
  const RecordedRequest quarter = Recorded::dram(250 * kMib);
  std::vector<RowId> rows;
  for (std::uint64_t i = 0; i < 4; ++i)
    rows.push_back(run.allocate({device}, quarter, time, 10 + i));
  for (const std::size_t row : {1U, 3U})
    run.writer().end_allocation(rows[row], time + 1, Ending::freed);
  run.allocate({device}, Recorded::dram(400 * kMib), time + 2, 20);
}

TEST(Simulation, WithoutARegionAnUnknownTraceMakesAFailureUncertain) {
  for (const std::uint64_t region : {std::uint64_t{0}, kMib}) {
    Recorded run;
    recording::RecordedDevice opened = Recorded::n150();
    opened.trace_region_bytes = region;
    const RowId device = run.device(run.process("model"), opened);
    RecordedRequest trace = Recorded::dram(4096);
    trace.kind = Kind::trace;
    trace.own_banks = true;  // a buffer of a sub-device cannot be translated
    run.allocate({device}, trace, 1, 1);
    fragment(run, device, 10);
    const BoardFit judged = run.on("n150");
    ASSERT_TRUE(judged.failure);
    EXPECT_EQ(judged.failure->cause, Cause::fragmentation);
    EXPECT_EQ(judged.failure->certain, region != 0) << "traces lie in DRAM without a region";
  }
}

TEST(Simulation, NamesOfARecordingAreMadeSafe) {
  Recorded run;
  const RowId device = run.device(run.process("evil\x1b[2Jmodel"));
  RecordedRequest request = Recorded::dram(600 * kMib);
  request.label = run.writer().text("kv\x1b]0;title\x07");
  request.scope = run.writer().scope("layer\n0");
  run.allocate({device}, request, 10, 1);
  run.allocate({device}, request, 20, 2);
  const BoardFit judged = run.on("n150");
  ASSERT_TRUE(judged.failure);
  ASSERT_EQ(judged.failure->placed.size(), 1u);
  const PlacedBuffer& placed = judged.failure->placed[0];
  const FailedRequest& failure = *judged.failure;
  for (const std::string& name : {failure.process, failure.scope, failure.label, placed.process,
                                  placed.scope, placed.label}) {
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(name.find_first_of("\x1b\x07\n"), std::string::npos) << name;
  }
}

TEST(Simulation, ShowsTheFailingDeviceAsItIsOpened) {
  Recorded run;
  const RowId process = run.process("model");
  run.device(process);
  recording::RecordedDevice other = Recorded::n150();
  other.l1_small_bytes_per_core = 32768;
  other.trace_region_bytes = 1 << 20;
  const RowId second = run.device(process, other);
  RecordedRequest request;
  request.kind = Kind::l1_small;
  request.has_bytes_per_bank = true;
  request.banks = 64;
  request.bytes = 64 * 40960;
  request.bytes_per_bank = 40960;
  request.layout = {BufferLayout::Spread::interleaved, BufferLayout::Direction::usual, 0, 1024};
  run.allocate({second}, request, 10);
  const BoardFit judged = run.on("n150");
  ASSERT_TRUE(judged.failure);
  ASSERT_TRUE(judged.opened);
  EXPECT_EQ(judged.opened->map.l1_small_bytes, 32768u);
  const std::string text = fit_text(judged, "run.ttmem", "", {});
  EXPECT_NE(text.find("l1_small_size 32768"), std::string::npos) << text;
  EXPECT_NE(text.find("trace_region_size 1048576"), std::string::npos) << text;
  EXPECT_NE(text.find("(now 32768"), std::string::npos) << text;
}

}  // namespace
}  // namespace ttmem::fit
