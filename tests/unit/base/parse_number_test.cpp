// SPDX-License-Identifier: Apache-2.0
#include "base/parse_number.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace ttmem {
namespace {

TEST(ParseNumber, TakesDigitsUpToTheMaximumOfTheType) {
  EXPECT_EQ(parse_number<std::uint32_t>("0"), 0u);
  EXPECT_EQ(parse_number<std::uint32_t>("007"), 7u);
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535u);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_number<std::int32_t>("-5"), -5);
  EXPECT_EQ(parse_number<double>("0.5"), 0.5);
}

TEST(ParseNumber, RefusesATextThatIsNotANumberAsAWhole) {
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "1,5", "1.5", "0x10", "4294967296", "one"}) {
    EXPECT_FALSE(parse_number<std::uint32_t>(text)) << text;
  }
  EXPECT_FALSE(parse_number<std::uint32_t>(std::string_view("1\0", 2)));
  EXPECT_FALSE(parse_number<std::uint32_t>(std::string_view()));
}

TEST(ParseNumber, ReadsFileModesInBaseEight) {
  EXPECT_EQ(parse_number<unsigned>("0640", 8), 0640u);
  EXPECT_EQ(parse_number<unsigned>("640", 8), 0640u);
  EXPECT_FALSE(parse_number<unsigned>("0680", 8));
}

}  // namespace
}  // namespace ttmem
