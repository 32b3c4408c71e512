// SPDX-License-Identifier: Apache-2.0
#include "serve/observatory/history.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/http/documents.hpp"

namespace ttmem::serve {
namespace {

using model::Snapshot;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kStart = 1'700'000'040 * kSecond;  // the start of a minute
constexpr std::size_t kDram = 0;
constexpr std::size_t kCb = 4;
constexpr std::size_t kKernels = 5;

Snapshot at(std::uint64_t second, model::Bytes dram, model::Bytes dram_peak = {}) {
  Snapshot snapshot;
  snapshot.time_unix_ns = kStart + second * kSecond;
  model::Device device;
  device.id = 3;
  device.uid = 0xabc;
  device.kinds[Kind::dram].set(&KindFigures::used_bytes, dram);
  device.kinds[Kind::dram].set(&KindFigures::peak_bytes, dram_peak);
  device.l1_used_bytes = 7;
  device.kinds[Kind::cb].set(&KindFigures::used_bytes, 5);
  snapshot.devices.push_back(device);
  return snapshot;
}

HistoryRange range_of(const History& history, std::uint64_t seconds, std::uint64_t now) {
  const auto range = history.range(3, seconds, kStart + now * kSecond);
  EXPECT_TRUE(range.has_value());
  return range.value_or(HistoryRange{});
}

TEST(History, HasAPointPerSecondWithTheValueOfThatSecond) {
  History history;
  for (std::uint64_t second = 0; second < 10; ++second) history.record(at(second, 100 + second));
  const HistoryRange range = range_of(history, 600, 9);
  EXPECT_EQ(range.uid, 0xabcU);
  EXPECT_EQ(range.interval_seconds, 1U);
  ASSERT_EQ(range.points.size(), 10U);
  for (std::uint64_t second = 0; second < 10; ++second) {
    EXPECT_EQ(range.points[second].time_unix_ns, kStart + second * kSecond);
    EXPECT_EQ(range.points[second].bytes[kDram], 100 + second);
    EXPECT_EQ(range.points[second].bytes[kCb], 5U);
    EXPECT_EQ(range.points[second].bytes[kKernels], std::nullopt) << "unknown stays unknown";
  }
}

TEST(History, AnswersOnlyForTheRequestedTime) {
  History history;
  for (std::uint64_t second = 0; second < 100; ++second) history.record(at(second, second));
  const HistoryRange range = range_of(history, 10, 99);
  ASSERT_EQ(range.points.size(), 10U);
  EXPECT_EQ(range.points.front().bytes[kDram], 90U);
}

TEST(History, KeepsAnHourBySecondsAndADayByMinutes) {
  History history;
  constexpr std::uint64_t day = 86400;
  for (std::uint64_t second = 0; second < day + 7200; ++second) history.record(at(second, second));
  const std::uint64_t now = day + 7199;
  EXPECT_EQ(range_of(history, 3600, now).points.size(), 3600U);
  const HistoryRange minutes = range_of(history, day, now);
  EXPECT_EQ(minutes.interval_seconds, 60U);
  EXPECT_EQ(minutes.points.size(), 1440U);
  EXPECT_EQ(minutes.points.back().bytes[kDram], now);
  EXPECT_EQ(minutes.points.front().bytes[kDram], 7259U);
}

TEST(History, APeakOfOneSecondSurvivesInItsMinute) {
  History history;
  for (std::uint64_t second = 0; second < 180; ++second) {
    history.record(at(second, second == 70 ? 5000 : 10));
  }
  const HistoryRange range = range_of(history, 7200, 180);
  ASSERT_EQ(range.points.size(), 3U);
  EXPECT_EQ(range.points[0].peak[kDram], 10U);
  EXPECT_EQ(range.points[1].peak[kDram], 5000U);
  EXPECT_EQ(range.points[1].bytes[kDram], 10U);
  EXPECT_EQ(range.points[2].peak[kDram], 10U);
}

TEST(History, APeakBetweenTwoPassesShowsInTheNextPoint) {
  History history;
  // The peak of 900 was reached at an unknown time before the first pass.
  history.record(at(0, 10, 900));
  history.record(at(1, 10, 900));
  history.record(at(2, 10, 950));
  history.record(at(3, 10, 950));
  const HistoryRange range = range_of(history, 60, 3);
  ASSERT_EQ(range.points.size(), 4U);
  EXPECT_EQ(range.points[0].peak[kDram], 10U);
  EXPECT_EQ(range.points[1].peak[kDram], 10U);
  EXPECT_EQ(range.points[2].peak[kDram], 950U);
  EXPECT_EQ(range.points[3].peak[kDram], 10U);
}

TEST(History, HasNoPointWhileTheDeviceWasAbsent) {
  History history;
  history.record(at(0, 1));
  history.record(Snapshot{.time_unix_ns = kStart + kSecond,
                          .host = {},
                          .devices = {},
                          .allocations = {},
                          .programs = {},
                          .left_at_close = {},
                          .warnings = {},
                          .unread = {}});
  history.record(at(2, 1));
  EXPECT_EQ(range_of(history, 60, 2).points.size(), 2U);
}

TEST(History, KeepsNoMoreThanItsLimit) {
  History history(std::chrono::seconds(30));
  for (std::uint64_t second = 0; second < 200; ++second) history.record(at(second, 1));
  EXPECT_EQ(range_of(history, 3600, 199).points.size(), 30U);
  EXPECT_EQ(range_of(history, 86400, 199).points.size(), 1U);
  History nothing(std::chrono::seconds(0));
  nothing.record(at(0, 1));
  EXPECT_FALSE(nothing.range(3, 60, kStart).has_value());
}

TEST(History, EvictsTheDeviceSeenLongestAgoWhenThereAreTooMany) {
  History history;
  for (std::uint32_t id = 0; id <= History::kMaxDevices; ++id) {
    Snapshot snapshot = at(id, 1);
    snapshot.devices[0].id = id;
    snapshot.devices[0].uid = 1000 + id;
    history.record(snapshot);
  }
  EXPECT_EQ(history.devices().size(), History::kMaxDevices);
  EXPECT_FALSE(history.range(0, 60, kStart).has_value());
  EXPECT_TRUE(history.range(1, 60, kStart).has_value());
}

TEST(History, ChipsThatShareANumberAreDistinguishedByTheirUid) {
  History history;
  Snapshot two = at(0, 1);
  two.devices.push_back(two.devices[0]);
  two.devices[1].uid = 0xdef;
  two.devices[1].ids = {3, 7};
  two.devices[1].kinds[Kind::dram].set(&KindFigures::used_bytes, 2);
  history.record(two);
  EXPECT_EQ(history.named(3).size(), 2U);
  EXPECT_EQ(history.named(7).size(), 1U);
  EXPECT_EQ(history.named(model::name_of_uid(0xabc)).size(), 1U);
  EXPECT_EQ(history.range(model::name_of_uid(0xabc), 60, kStart)->points.at(0).bytes[0], 1U);
  EXPECT_EQ(history.range(model::name_of_uid(0xdef), 60, kStart)->points.at(0).bytes[0], 2U);
  history.record(at(1, 1));
  EXPECT_EQ(history.named(3).size(), 1U) << "the other is gone";
}

TEST(History, JsonHasTheDocumentedFields) {
  History history;
  history.record(at(0, 12345));
  const auto json = nlohmann::json::parse(history_json(range_of(history, 60, 0), "b:1a:1"));
  EXPECT_EQ(json["directory_id"], "b:1a:1");
  EXPECT_EQ(json["schema"], "ttmem.history.v1");
  EXPECT_EQ(json["device"], 3);
  EXPECT_EQ(json["uid"], "0xabc");
  EXPECT_EQ(json["interval_seconds"], 1);
  const auto& point = json["points"][0];
  EXPECT_EQ(point["time_unix_ns"], kStart);
  EXPECT_EQ(point["dram_bytes"], 12345);
  EXPECT_EQ(point["dram_peak_bytes"], 12345);
  EXPECT_TRUE(point["kernels_bytes"].is_null());
  for (const char* name : {"l1", "l1_small", "trace", "cb", "kernels", "l1_used"}) {
    EXPECT_TRUE(point.contains(std::string(name) + "_bytes")) << name;
    EXPECT_TRUE(point.contains(std::string(name) + "_peak_bytes")) << name;
  }
}

}  // namespace
}  // namespace ttmem::serve
