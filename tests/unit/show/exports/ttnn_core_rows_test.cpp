// SPDX-License-Identifier: Apache-2.0
#include "show/exports/ttnn_core_rows.hpp"

#include <gtest/gtest.h>

namespace ttmem::exports {
namespace {

TEST(CoreRows, GivesAllOperationsTheirRowsWhileThereIsRoom) {
  CoreRows rows(1000);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(rows.take_for_operation(2000));
}

TEST(CoreRows, SpreadsLargeOperationsOverTheRun) {
  CoreRows rows(1000);
  int shown = 0;
  int since = 0;
  for (int i = 0; i < 1000; ++i) {
    since = rows.take_for_operation(10'000) ? 0 : since + 1;
    if (since == 0) ++shown;
    EXPECT_LE(since, 4);
  }
  EXPECT_GE(shown, 200);
}

TEST(CoreRows, NeverGivesMoreThanTheMaximum) {
  CoreRows rows(10);  // more operations than were expected
  std::uint64_t given = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (rows.take_for_operation(100'000)) given += 100'000;
    if (rows.take_for_peak(100'000)) given += 100'000;
  }
  EXPECT_LE(given, CoreRows::kMax);
  EXPECT_GT(given, CoreRows::kMax / 2);
}

}  // namespace
}  // namespace ttmem::exports
