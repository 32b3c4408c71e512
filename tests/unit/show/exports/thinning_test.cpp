// SPDX-License-Identifier: Apache-2.0
#include "show/exports/thinning.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace ttmem::exports {
namespace {

TEST(LocalPeaks, KeepAllPointsWhileThereIsRoom) {
  LocalPeaks peaks(10);
  for (const std::uint64_t bytes : {3U, 1U, 2U}) {
    peaks.add({bytes, static_cast<recording::Time>(bytes)});
  }
  peaks.finish();
  EXPECT_EQ(peaks.peaks().size(), 3);
}

RC_GTEST_PROP(LocalPeaks, NeverLoseTheLargestPoint,
              (const std::vector<std::uint64_t>& values, bool halve)) {
  RC_PRE(!values.empty());
  LocalPeaks peaks(4);
  recording::Time time = 0;
  for (const std::uint64_t value : values) peaks.add({value, time++});
  peaks.finish();
  if (halve) peaks.halve();
  const auto less = [](const Peak& a, const Peak& b) { return a.bytes < b.bytes; };
  const auto largest = std::max_element(peaks.peaks().begin(), peaks.peaks().end(), less);
  RC_ASSERT(peaks.peaks().size() <= 5);
  RC_ASSERT(largest->bytes == *std::max_element(values.begin(), values.end()));
  RC_ASSERT(values[static_cast<std::size_t>(largest->time_ns)] == largest->bytes);
  RC_ASSERT(std::is_sorted(peaks.peaks().begin(), peaks.peaks().end(),
                           [](const Peak& a, const Peak& b) { return a.time_ns < b.time_ns; }));
}

}  // namespace
}  // namespace ttmem::exports
