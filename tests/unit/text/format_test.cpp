// SPDX-License-Identifier: Apache-2.0
#include "text/format.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "text/typed_lists.hpp"

namespace ttmem::text {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;

TEST(FormatBytes, ShowsOneOrTwoDecimalsInTheLargestUnitBelowTheSize) {
  EXPECT_EQ(format_bytes(29 * kMiB), "29.0 MiB");
  EXPECT_EQ(format_bytes(300 * kMiB), "300.0 MiB");
  EXPECT_EQ(format_bytes(kMiB), "1.00 MiB");
  EXPECT_EQ(format_bytes(204'800), "200.0 KiB");
  EXPECT_EQ(format_bytes(400), "400 B");
  EXPECT_EQ(format_bytes(5 * kGiB / 4), "1.25 GiB");
  EXPECT_EQ(format_bytes(0), "0.00 MiB");
}

TEST(FormatBytes, NeverShowsZeroForANonzeroSize) {
  EXPECT_EQ(format_bytes(1), "1 B");
  EXPECT_EQ(format_bytes(2 * kKiB), "2.00 KiB");
  for (std::uint64_t bytes = 1; bytes < 4 * kGiB; bytes = bytes * 3 + 1) {
    EXPECT_EQ(format_bytes(bytes).find("0.00"), std::string::npos) << bytes;
  }
}

TEST(FormatBytes, NeverTakesMoreThanNineCharacters) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (std::uint64_t bytes : {power - 1, power, power + 1}) {
      EXPECT_LE(format_bytes(bytes).size(), 9U) << bytes;
      EXPECT_LE(format_bytes(bytes / 1024 * 1000, Scale::core).size(), 9U) << bytes;
    }
  }
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
  EXPECT_EQ(format_bytes(1023 * kMiB), "1.00 GiB");
}

TEST(FormatBytes, DependsOnTheScaleOnlyForZero) {
  EXPECT_EQ(format_bytes(0, Scale::core), "0.00 KiB");
  for (std::uint64_t bytes = 1; bytes < 4 * kGiB; bytes = bytes * 3 + 1) {
    EXPECT_EQ(format_bytes(bytes, Scale::core), format_bytes(bytes));
  }
  EXPECT_EQ(format_bytes(421'888, Scale::core), "412.0 KiB");
  EXPECT_EQ(format_bytes(kMiB, Scale::core), "1.00 MiB");
}

TEST(FormatBytes, ShowsUnknownAsNotAvailable) { EXPECT_EQ(format_bytes(model::Bytes()), "n/a"); }

TEST(FormatBytes, SignsNegativeFigures) {
  EXPECT_EQ(format_signed_bytes(-115'200, Scale::core), "-112.5 KiB");
  EXPECT_EQ(format_signed_bytes(-192, Scale::core), "-192 B");
  EXPECT_EQ(format_signed_bytes(std::numeric_limits<std::int64_t>::min()), "-8.00 EiB");
}

TEST(FormatShare, DistinguishesZeroFromLittleAndFullFromNearlyFull) {
  EXPECT_EQ(format_share(0.0), "0%");
  EXPECT_EQ(format_share(0.0001), "<1%");
  EXPECT_EQ(format_share(0.317), "32%");
  EXPECT_EQ(format_share(0.9999), "99%");
  EXPECT_EQ(format_share(1.0), "100%");
  EXPECT_EQ(format_share(std::nullopt), "n/a");
}

TEST(ShareOf, IsUnknownWithoutACapacity) {
  EXPECT_FALSE(share_of(1, std::nullopt));
  EXPECT_FALSE(share_of(std::nullopt, 1));
  EXPECT_FALSE(share_of(1, 0));
  EXPECT_DOUBLE_EQ(share_of(1, 4).value(), 0.25);
}

TEST(FormatIds, JoinsAdjacentIds) {
  EXPECT_EQ(format_ids({0, 1, 2, 3, 6}), "0-3,6");
  EXPECT_EQ(format_ids({5}), "5");
  EXPECT_EQ(format_ids({}), "");
}

TEST(FormatPid, ShowsThePidHereBeforeTheOneInTheContainer) {
  EXPECT_EQ(format_pid(7, false, 7), "7");
  EXPECT_EQ(format_pid(7, false, std::nullopt), "7");
  EXPECT_EQ(format_pid(7, true, 81234), "81234/7");
  EXPECT_EQ(format_pid(7, true, std::nullopt), "?/7");
}

TEST(FormatAge, UsesASuitableUnit) {
  EXPECT_EQ(format_age(420'000'000), "420ms");
  EXPECT_EQ(format_age(12'345'000'000), "12.3s");
  EXPECT_EQ(format_age(312'000'000'000), "5m12s");
  EXPECT_EQ(format_age(11'100'000'000'000), "3h05m");
  EXPECT_EQ(format_age(187'200'000'000'000), "2d04h");
}

TEST(FormatMoment, ShowsSmallTimesAfterTheBegin) {
  EXPECT_EQ(format_moment(-5), "0us");
  EXPECT_EQ(format_moment(999'999), "999us");
  EXPECT_EQ(format_moment(1'000'000), "1ms");
  EXPECT_EQ(format_moment(12'345'000'000), "12.3s");
}

TEST(OriginOrNone, IsScopeAndName) {
  EXPECT_EQ(origin_or_none("decoder.0", "kv"), "decoder.0/kv");
  EXPECT_EQ(origin_or_none("", "kv"), "kv");
  EXPECT_EQ(origin_or_none("", ""), "(no name)");
}

TEST(FormatTime, CountsFromTheEpochWithAnOffset) {
  EXPECT_EQ(format_time(0, 0), "1970-01-01 00:00:00");
  EXPECT_EQ(format_time(1'787'400'005'999'999'999, 7200), "2026-08-22 14:00:05");
  EXPECT_EQ(format_time(0, -1), "1969-12-31 23:59:59");
}

model::Device chip(std::uint32_t number, const char* arch) {
  model::Device device;
  device.id = number;
  device.arch = arch;
  return device;
}

TEST(KeyOf, IsTheUidOrThePciAddressOrNumberAndArchitecture) {
  model::Device device = chip(3, "wormhole_b0");
  EXPECT_EQ(key_of(device), "3:wormhole_b0");
  device.bus_id = "0000:01:00.0";
  EXPECT_EQ(key_of(device), "0000:01:00.0");
  device.uid = 0x1f00a;
  EXPECT_EQ(key_of(device), "0x1f00a");
  EXPECT_EQ(key_of(chip(3, "")), "3");
}

TEST(KeyOf, DistinguishesAllChipsAndNamesThem) {
  const std::vector<model::Device> chips = {
      chip(0, ""),          chip(0, "blackhole"), chip(0, "wormhole_b0"), chip(1, "wormhole_b0"),
      chip(0, "a,\"b\\c%"), chip(0, "%2c"),       chip(0, ","),           chip(10, "0a.0"),
      chip(0, "\xc3\xa9")};
  std::set<std::string> keys;
  for (const model::Device& device : chips) {
    const std::string key = key_of(device);
    EXPECT_TRUE(keys.insert(key).second) << key;
    EXPECT_EQ(key.find_first_of(",\"\\.&"), std::string::npos) << key;
    const auto names = parse_device_keys(key);
    ASSERT_TRUE(names && names->size() == 1) << key;
    const model::DeviceName& name = names->front();
    EXPECT_TRUE(has_name(device, name)) << key;
    EXPECT_TRUE(!name.arch || name == name_of(device)) << key;
  }
}

TEST(KeyOf, OtherTextsAreListsOrRefused) {
  EXPECT_EQ(parse_device_keys("0-2")->size(), 3U);
  EXPECT_EQ(parse_device_keys("0a:00.0")->front().bus_id, "0a:00.0");
  EXPECT_EQ(parse_device_keys("10:00.0")->front().bus_id, "10:00.0");
  for (const char* wrong : {"0:", ":x", "0:a,1", "0-1:a", "0:%2", "0:%2C", "0:a b", "0:%41"}) {
    EXPECT_FALSE(parse_device_keys(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace ttmem::text
