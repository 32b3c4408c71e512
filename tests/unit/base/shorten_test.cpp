// SPDX-License-Identifier: Apache-2.0
#include "base/shorten.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ttmem {
namespace {

std::string shortened(std::string_view text) {
  std::array<char, 16> to;
  return {to.data(), shorten(text, to)};
}

TEST(Shorten, KeepsATextThatFits) {
  EXPECT_EQ(shortened(""), "");
  EXPECT_EQ(shortened("0123456789abcdef"), "0123456789abcdef");
}

TEST(Shorten, LeavesOutTheMiddleVisibly) {
  EXPECT_EQ(shortened("layers.0.attention.wq"), "layers…tion.wq");
}

TEST(Shorten, SplitsNoCharacter) {
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string text = shortened(std::string(i, 'x') + "äöüäöüäöüäöüäöüäöüäöü");
    EXPECT_LE(text.size(), 16U);
    EXPECT_NE(text.find("…"), std::string::npos);
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte == 0xc3) {
        ASSERT_LT(at + 1, text.size());
        EXPECT_EQ(static_cast<unsigned char>(text[at + 1]) & 0xc0, 0x80);
      }
    }
    EXPECT_NE(static_cast<unsigned char>(text.front()) & 0xc0, 0x80);
  }
}

}  // namespace
}  // namespace ttmem
