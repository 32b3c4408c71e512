// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/limit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttmem::report {
namespace {

Report run(std::int64_t dram_peak, std::int64_t headroom, std::uint64_t leak = 0) {
  Report report;
  DeviceReport& device = report.devices.emplace_back();
  device.peak[Kind::dram] = Extreme{dram_peak, 5};
  device.least_headroom = Extreme{headroom, 5};
  device.leak_bytes = leak;
  // This device has less DRAM in use and more headroom than the first device.
  DeviceReport& other = report.devices.emplace_back();
  other.peak[Kind::dram] = Extreme{dram_peak / 2, 5};
  other.least_headroom = Extreme{headroom + 1000, 5};
  return report;
}

bool holds(const std::string& text, const Report* before, const Report& now) {
  const auto limit = parse_limit(text);
  EXPECT_TRUE(limit) << text << ": " << limit.error().message;
  return limit && !exceeded(*limit, before, now).empty();
}

TEST(Limit, AnAbsoluteLimitComparesTheFullestDevice) {
  const Report now = run(1'258'291, 65'536, 12);
  EXPECT_TRUE(holds("dram.peak>1.1MiB", nullptr, now));
  EXPECT_FALSE(holds("dram.peak>1.2MiB", nullptr, now)) << "1.2 MiB is 1,258,291.2 bytes";
  EXPECT_TRUE(holds("dram.peak > 1258290", nullptr, now));
  EXPECT_FALSE(holds("dram.peak>1258291", nullptr, now));
  EXPECT_TRUE(holds("dram.peak>=1258291", nullptr, now));
  EXPECT_FALSE(holds("headroom.min<64KiB", nullptr, now));
  EXPECT_TRUE(holds("headroom.min<=64KiB", nullptr, now));
  EXPECT_TRUE(holds("headroom.min<65KiB", nullptr, now));
  EXPECT_TRUE(holds("leak>0", nullptr, now));
  EXPECT_FALSE(holds("leak>0", nullptr, run(1, 1)));
}

TEST(Limit, ASignComparesWithTheOtherRun) {
  const Report before = run(1000, 5000);
  EXPECT_TRUE(holds("dram.peak>+2%", &before, run(1021, 5000)));
  EXPECT_FALSE(holds("dram.peak>+2%", &before, run(1020, 5000)));
  EXPECT_TRUE(holds("dram.peak>+0", &before, run(1001, 5000)));
  EXPECT_TRUE(holds("dram.peak>+1KiB", &before, run(2025, 5000)));
  EXPECT_FALSE(holds("dram.peak>+1KiB", &before, run(2024, 5000)));
  EXPECT_TRUE(holds("headroom.min<-1KiB", &before, run(1000, 3975)));
  EXPECT_FALSE(holds("headroom.min<-1KiB", &before, run(1000, 3976)));
  EXPECT_TRUE(holds("headroom.min<-10%", &before, run(1000, 4499)));
}

TEST(Limit, SaysByHowMuchALimitIsExceeded) {
  const Report before = run(1000, 5000);
  const Report now = run(3000, 5000);
  EXPECT_EQ(exceeded(*parse_limit("dram.peak>+2%"), &before, now),
            "dram.peak>+2%: it was 1000 B and is 2.93 KiB (+2000 bytes, +200.0%)");
  EXPECT_EQ(exceeded(*parse_limit("dram.peak>2000"), nullptr, now),
            "dram.peak>2000: it is 2.93 KiB (3000 bytes), +1000 bytes from the limit");
  Report lossy = now;
  lossy.lost_events = 5000;
  EXPECT_EQ(exceeded(*parse_limit("lost>0"), nullptr, lossy),
            "lost>0: it is 5000, +5000 from the limit");
  EXPECT_EQ(exceeded(*parse_limit("lost>+0"), &before, lossy),
            "lost>+0: it was 0 and is 5000 (+5000)");
}

TEST(Limit, UnknownIsNotZero) {
  const auto limit = parse_limit("cb.peak<1MiB");
  ASSERT_TRUE(limit);
  EXPECT_EQ(judge(*limit, nullptr, run(1, 1)), Judgement::unknown);
  EXPECT_TRUE(exceeded(*limit, nullptr, run(1, 1)).empty());
}

TEST(Limit, AMalformedLimitIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"dram.peak", "compare a figure with > or <"},
      {"dram>5", "there is no figure 'dram'; there are dram.peak"},
      {"dram.peak>", "'' is no size"},
      {"dram.peak>5 parsecs", "'5 parsecs' is no size"},
      {"dram.peak>>5", "'>5' is no size"},
      {"dram.peak>--5", "'--5' is no size"},
      {"dram.peak>nan", "'nan' is no size"},
      {"dram.peak>2%", "write +2% or -2%"},
  };
  for (const auto& [text, words] : wrong) {
    const auto limit = parse_limit(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_NE(limit.error().message.find(words), std::string::npos) << limit.error().message;
  }
  EXPECT_FALSE(parse_absolute_limit("dram.peak>+2%"));
  EXPECT_TRUE(parse_absolute_limit("dram.peak>2GiB"));
}

}  // namespace
}  // namespace ttmem::report
