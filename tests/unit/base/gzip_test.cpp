// SPDX-License-Identifier: Apache-2.0
#include "base/gzip/gzip.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ttmem {
namespace {

// Returns random text, which can hardly be compressed.
std::string noise(std::size_t bytes) {
  std::minstd_rand random(7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random() >> 8);
  return text;
}

TEST(Gzip, GivesTheSameBytesBack) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(100'000, 'a'),
                                  noise(1 << 15), noise(300'001)}) {
    const std::string packed = gzip(text);
    EXPECT_TRUE(packed.starts_with("\x1f\x8b"));
    EXPECT_EQ(packed, gzip(text)) << "there is no time in it";
    EXPECT_TRUE(gunzip(packed) == text) << text.size();
  }
  EXPECT_LT(gzip(std::string(100'000, 'a')).size(), 1000U);
}

TEST(Gzip, WritesPieceByPiece) {
  const std::string text = noise(100'000);
  std::string packed;
  GzipWriter writer([&](std::string_view piece) { packed += piece; });
  writer.write(std::string_view(text).substr(0, 10));
  writer.write("");
  writer.write(std::string_view(text).substr(10));
  writer.finish();
  EXPECT_TRUE(gunzip(packed) == text);
}

TEST(Gzip, EndsAtDamage) {
  const std::string packed = gzip(noise(100'000));
  EXPECT_LT(gunzip(packed.substr(0, 50'000)).size(), 100'000U);
  EXPECT_EQ(gunzip("no gzip"), "");
  EXPECT_EQ(gunzip(""), "");
}

}  // namespace
}  // namespace ttmem
