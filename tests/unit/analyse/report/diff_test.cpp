// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/diff.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyse/report/diff_views.hpp"

namespace ttmem::report {
namespace {

Holder held(const std::string& label, std::uint64_t size, std::uint64_t count,
            const std::string& process = "model") {
  Holder holder;
  holder.kind = Kind::l1;
  holder.label = label;
  holder.process = process;
  holder.size = size;
  holder.count = count;
  holder.bytes = size * count;
  return holder;
}

// Returns the report of a run with one chip, whose number is `number`. The chip's L1 peak is the
// sum of the sizes of the holders.
Report run(std::uint32_t number, const std::vector<Holder>& holders) {
  Report report;
  DeviceReport& device = report.devices.emplace_back();
  device.id = number;
  device.at_l1_peak = holders;
  std::int64_t sum = 0;
  for (const Holder& holder : holders) sum += static_cast<std::int64_t>(holder.bytes);
  device.l1_peak = Extreme{sum, 1};
  return report;
}

TEST(Diff, ListsAddedGoneAndGrownHolders) {
  const Report before =
      run(0, {held("same", 10, 1), held("larger", 10, 2), held("gone", 5, 1), held("", 7, 1)});
  const Report now = run(
      3, {held("same", 10, 1, "other"), held("larger", 40, 2), held("new", 6, 1), held("", 8, 1)});
  const Diff diff = make_diff(before, now);
  ASSERT_EQ(diff.l1.size(), 5U);
  EXPECT_EQ(diff.l1[0].type, ChangeType::grown);
  EXPECT_EQ(diff.l1[0].label, "larger");
  EXPECT_EQ(diff.l1[0].bytes(), 60);
  std::vector<std::string> rest;
  for (std::size_t i = 1; i < 5; ++i) {
    rest.push_back(std::string(name_of(diff.l1[i].type)) + " " + diff.l1[i].label + " " +
                   std::to_string(diff.l1[i].bytes()));
  }
  // Holders without a name are matched by their sizes.
  EXPECT_EQ(rest,
            (std::vector<std::string>{"added  8", "gone  -7", "added new 6", "gone gone -5"}));
}

TEST(Diff, TheSameSumWithOtherSizesIsAChange) {
  const Diff diff = make_diff(run(0, {held("a", 10, 2)}), run(0, {held("a", 5, 4)}));
  ASSERT_EQ(diff.l1.size(), 1U);
  EXPECT_EQ(diff.l1[0].type, ChangeType::other_sizes);
}

TEST(Diff, EqualRunsHaveNoChanges) {
  const Report report = run(0, {held("a", 10, 2), held("", 5, 1)});
  const Diff diff = make_diff(report, report);
  EXPECT_TRUE(diff.l1.empty());
  for (const FigureDiff& figure : diff.figures) EXPECT_EQ(figure.before, figure.now);
}

TEST(Diff, ALabelCannotBreakATable) {
  const Diff diff = make_diff(run(0, {}), run(0, {held("a|b`c", 10, 1)}));
  const std::string text = diff_markdown(diff, {"old", "new", 10, {}});
  EXPECT_NE(text.find("`a\\|b'c`"), std::string::npos) << text;
}

}  // namespace
}  // namespace ttmem::report
