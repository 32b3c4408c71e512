// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/recorded_scopes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ttmem::leaks {
namespace {

using recording::Ending;
using recording::RecordedAllocation;
using recording::RowId;
using recording::Time;

// One process with a mesh of three devices, which are closed at the times 101, 102 and 103. The
// process entered the scope "step" three times: before time 20, at 20 and at 30.
class MeshOfThree : public ::testing::Test {
 protected:
  MeshOfThree() {
    tables_.processes.push_back({.id = 1, .pid = 7, .name = "model"});
    for (std::uint32_t number = 0; number < 3; ++number) {
      tables_.devices.push_back(
          {.id = number + 1, .process = 1, .number = number, .end_ns = 101 + number});
    }
    tables_.device_sets = {{1, 2, 3}, {2, 3}, {3}, {1}, {2}};
    tables_.scopes = {"step"};
    tables_.requests.push_back({.scope = 1, .bytes = 100});
    tables_.scope_visits[{1, 1}] = {.entered = 3, .open = 0, .last_ns = 30, .before_ns = 20};
  }

  // Adds a buffer that is live on all devices, then on two, then on one. The buffer is one row that
  // ends in parts, or three rows as in recordings of older versions. `ending` says how the buffer
  // ended on the last device.
  void add(std::uint64_t number, Time begin, Ending ending, bool in_parts) {
    if (in_parts) {
      rows_.push_back({.devices = 1,
                       .request = 1,
                       .number = number,
                       .begin_ns = begin,
                       .end_ns = 103,
                       .ending = ending,
                       .partial_ends = {{4, 2, 101, Ending::device_closed},
                                        {5, 3, 102, Ending::device_closed}}});
      return;
    }
    for (RowId set = 1; set <= 3; ++set) {
      rows_.push_back({.devices = set,
                       .request = 1,
                       .number = number,
                       .begin_ns = set == 1 ? begin : 99 + set,
                       .end_ns = 100 + set,
                       .ending = set == 3 ? ending : Ending::changed});
    }
  }

  // Returns what RecordedScopes finds in the rows. Sorts the rows by their begin before the search.
  std::vector<Outlived> found() {
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const RecordedAllocation& a, const RecordedAllocation& b) {
                       return a.begin_ns < b.begin_ns;
                     });
    const Filter filter;
    RecordedScopes scopes(tables_, filter, {true, true, true});
    for (const RecordedAllocation& row : rows_) scopes.add(row);
    Leaks leaks;
    scopes.finish(leaks);
    return leaks.outlived_scope;
  }

  recording::Tables tables_;
  std::vector<RecordedAllocation> rows_;
};

TEST_F(MeshOfThree, ABufferCountsOnceWhenItsDevicesAreClosedOneByOne) {
  for (const bool in_parts : {false, true}) {
    rows_.clear();
    for (const Time begin : {10, 20, 30}) {
      add(static_cast<std::uint64_t>(begin), begin, Ending::device_closed, in_parts);
    }
    const auto list = found();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].how, Outlived::How::every_time);
    EXPECT_EQ(list[0].what.count, 3U);
    EXPECT_EQ(list[0].what.bytes_on.on_all(), 3U * 3 * 100);
    EXPECT_EQ(list[0].what.devices(), (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(list[0].what.begin_ns, 10);
  }
}

TEST_F(MeshOfThree, ABufferBelongsToTheVisitThatAllocatedItNotToTheClosing) {
  for (const bool in_parts : {false, true}) {
    rows_.clear();
    for (const std::uint64_t number : {1U, 2U, 3U}) {
      add(number, 10, Ending::device_closed, in_parts);
    }
    const auto list = found();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].how, Outlived::How::sometimes) << "all are of the first visit";
  }
}

TEST_F(MeshOfThree, ABufferFreedOnTheLastDeviceWasLeftOnTheOtherDevices) {
  for (const bool in_parts : {false, true}) {
    rows_.clear();
    add(1, 10, Ending::freed, in_parts);
    const auto list = found();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].what.devices(), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(list[0].what.bytes_on.on_all(), 2U * 100);
  }
}

}  // namespace
}  // namespace ttmem::leaks
