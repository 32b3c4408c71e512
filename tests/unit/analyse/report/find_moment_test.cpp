// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/find_moment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "read/recording/file/reader.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/playback/playback.hpp"
#include "support/recorded_history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::report {
namespace {

using recording::Playback;
using recording::RandomHistory;
using recording::Reader;
using recording::RowId;
using recording::Time;
using recording::Writer;

class MomentFile {
 public:
  MomentFile() {
    auto made = Writer::create(path(), {}, false);
    writer_ = std::move(*made);
  }

  [[nodiscard]] Writer& writer() { return *writer_; }
  [[nodiscard]] std::unique_ptr<Reader> reader() {
    EXPECT_TRUE(writer_->commit());
    auto opened = Reader::open(path());
    return std::move(*opened);
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.ttmem"; }

  TemporaryDirectory directory_;
  std::unique_ptr<Writer> writer_;
};

// Returns the figures of a device that one process has open, from the code that makes live figures.
std::optional<MomentFigures> figures_of(const model::Device& device, Kind kind) {
  const model::FreeSpace& free = device.free[kind];
  if (device.processes.size() != 1 || !free.bytes_per_bank) return std::nullopt;
  return MomentFigures{.kind = kind,
                       .free_per_bank = free.bytes_per_bank,
                       .largest_free_per_bank = free.largest_per_bank};
}

std::vector<MomentFigures> figures_at(const Reader& reader, Time time, Kind kind) {
  Playback playback(reader);
  EXPECT_TRUE(playback.advance_to(time));
  const model::Snapshot snapshot = playback.snapshot();
  std::vector<MomentFigures> all;
  for (const model::Device& device : snapshot.devices) {
    if (const auto figures = figures_of(device, kind)) all.push_back(*figures);
  }
  return all;
}

RC_GTEST_PROP(FindMoment, FindsTheFiguresOfAnyMoment, ()) {
  MomentFile file;
  const RandomHistory history(file.writer(), *rc::gen::arbitrary<std::uint32_t>(), 60);
  const auto reader = file.reader();
  const Time time = *rc::gen::elementOf(history.times);
  const Kind kind = *rc::gen::element(Kind::dram, Kind::l1);
  for (const MomentFigures& wanted : figures_at(*reader, time, kind)) {
    const auto found = last_moment_with(wanted, std::nullopt, *reader, {});
    RC_ASSERT(found.has_value());
    RC_ASSERT(found->has_value());
  }
}

class OneDeviceMoments : public ::testing::Test {
 protected:
  OneDeviceMoments() {
    const RowId process =
        file_.writer().begin(recording::RecordedProcess{.pid = 7, .name = "model"});
    device_ = file_.writer().begin(recording::small_wormhole(process, 0, 1));
    set_ = file_.writer().device_set(std::vector<RowId>{device_});
  }

  RowId allocate(std::uint64_t address, std::uint64_t bytes, Time time) {
    recording::RecordedRequest request;
    request.kind = Kind::l1;
    request.has_bytes_per_bank = true;
    request.bytes = request.bytes_per_bank = bytes;
    return file_.writer().begin(
        recording::RecordedAllocation{.devices = set_,
                                      .request = file_.writer().request(request),
                                      .number = ++number_,
                                      .address = address,
                                      .begin_ns = time});
  }
  void free(RowId row, Time time) {
    file_.writer().end_allocation(row, time, recording::Ending::freed);
  }
  void place(std::uint32_t end, Time time) {
    recording::RecordedCb cb;
    cb.address = 105'664;
    cb.bytes = end - cb.address;
    cb.cores = CoreMask::first(2);
    file_.writer().begin(recording::RecordedProgram{.device = device_,
                                                    .layout = file_.writer().layout({cb}),
                                                    .number = ++number_,
                                                    .begin_ns = time});
  }
  std::optional<Time> find(const MomentFigures& figures, std::optional<std::int32_t> pid = {}) {
    const auto reader = file_.reader();
    const auto found = last_moment_with(figures, pid, *reader, {});
    EXPECT_TRUE(found);
    return *found;
  }

 private:
  MomentFile file_;
  RowId device_ = 0;
  RowId set_ = 0;
  std::uint64_t number_ = 0;
};

constexpr std::uint64_t kBank = 1'499'136 - 105'664 - 32'768;

TEST_F(OneDeviceMoments, FiguresBetweenTwoEventsOfOneTimeDoNotCount) {
  free(allocate(1'000'000 / 32 * 32, 3200, 10), 20);
  allocate(1'000'000 / 32 * 32, 6400, 20);
  EXPECT_EQ(find({.free_per_bank = kBank - 3200}), 10);
  EXPECT_EQ(find({.free_per_bank = kBank - 6400}), 20);
  EXPECT_EQ(find({.free_per_bank = kBank - 9600}), std::nullopt);
}

TEST_F(OneDeviceMoments, AProcessIsChosenByItsPid) {
  allocate(1'000'000 / 32 * 32, 3200, 10);
  EXPECT_EQ(find({.free_per_bank = kBank - 3200}, 7), 10);
  EXPECT_EQ(find({.free_per_bank = kBank - 3200}, 8), std::nullopt);
}

TEST_F(OneDeviceMoments, AClashIsFoundByTheBufferAndTheProgram) {
  place(700'000, 5);
  const RowId row = allocate(640'000, 3200, 10);
  allocate(960'000, 3200, 20);
  free(row, 30);
  EXPECT_EQ(find({.lowest_l1 = 640'000, .cb_end = 700'000}), 20);
  EXPECT_EQ(find({.lowest_l1 = 640'000, .cb_end = 700'032}), std::nullopt);
  EXPECT_EQ(find({.lowest_l1 = 640'032, .cb_end = 700'000}), std::nullopt);
  EXPECT_EQ(find({.cb_end = 700'000}), 30) << "the program is still placed";
}

}  // namespace
}  // namespace ttmem::report
