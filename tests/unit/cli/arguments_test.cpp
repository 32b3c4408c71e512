// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <gtest/gtest.h>

#include "text/nearest.hpp"

namespace ttmem::cli {
namespace {

using Ids = std::vector<model::DeviceName>;

TEST(ParseDevices, TakesListsAndRanges) {
  EXPECT_EQ(parse_devices("0,3").value(), (Ids{0, 3}));
  EXPECT_EQ(parse_devices("4-6,1,5").value(), (Ids{1, 4, 5, 6}));
  EXPECT_EQ(parse_devices("4294967295").value(), (Ids{4294967295U}));
}

TEST(ParseDevices, TakesUids) {
  EXPECT_EQ(parse_devices("0x1F00a").value(), Ids{model::name_of_uid(0x1f00a)});
  EXPECT_EQ(parse_devices("0xffffffffffffffff,3").value(),
            (Ids{3, model::name_of_uid(0xffffffffffffffff)}));
}

TEST(ParseDevices, RefusesEverythingElse) {
  for (const char* wrong : {"", "x", "0,", ",0", "-1", "3-1", "0-", "0x", "0x0", "0xg", "0x1-0x3",
                            "0x10000000000000000", "1 ", "4294967296", "0-4294967295", "1--2"}) {
    EXPECT_FALSE(parse_devices(wrong)) << wrong;
  }
}

TEST(ParseDevices, NamesTheOptionAndItsValidValues) {
  EXPECT_EQ(parse_devices("x").error().message,
            "--device x: not a list of devices; write for example 0,3 or 0-3, a uid as "
            "0x1f00a, or a PCI address as 0000:01:00.0");
}

TEST(ParseKinds, NamesTheKindsWhenOneIsUnknown) {
  EXPECT_EQ(parse_kinds("dram,cb").value(), (std::vector{Kind::dram, Kind::cb}));
  const auto wrong = parse_kinds("dram,foo");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("'foo'"), std::string::npos);
  EXPECT_NE(wrong.error().message.find("l1_small"), std::string::npos);
}

TEST(ParsePositive, RefusesZeroNegativeInfiniteAndRubbish) {
  EXPECT_DOUBLE_EQ(parse_positive("--watch", "0.5").value(), 0.5);
  for (const char* wrong : {"0", "-1", "inf", "nan", "1e300", "", "1s"}) {
    EXPECT_FALSE(parse_positive("--watch", wrong)) << wrong;
  }
}

TEST(ParsePositive, SaysWhereTheLimitIs) {
  EXPECT_DOUBLE_EQ(parse_positive("--seconds", "1000000").value(), 1e6);
  const auto wrong = parse_positive("--seconds", "2000000");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("at most 1000000"), std::string::npos);
}

TEST(ParseCount, WantsAWholeNumberAboveZero) {
  EXPECT_EQ(parse_count("--limit", "40").value(), 40U);
  for (const char* wrong : {"0", "-1", "1.5", "", "99999999999999999999"}) {
    EXPECT_FALSE(parse_count("--limit", wrong)) << wrong;
  }
}

TEST(ParsePid, WantsAProcessId) {
  EXPECT_EQ(parse_pid("4711").value(), 4711);
  for (const char* wrong : {"0", "-1", "python", "4294967296"}) {
    EXPECT_FALSE(parse_pid(wrong)) << wrong;
  }
}

TEST(Nearest, FindsASlipAndNothingElse) {
  const std::vector<std::string> commands = {"allocs", "programs", "clean", "run"};
  EXPECT_EQ(text::nearest("alocs", commands), "allocs");
  EXPECT_EQ(text::nearest("program", commands), "programs");
  EXPECT_EQ(text::nearest("rnu", commands), "run");
  EXPECT_EQ(text::nearest("top", commands), "");
  EXPECT_EQ(text::nearest("", commands), "");
}

}  // namespace
}  // namespace ttmem::cli
