// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/scale.hpp"

#include <gtest/gtest.h>

namespace ttmem::fit {
namespace {

TEST(SizeScale, IsAScopeAndAFactor) {
  const auto scale = parse_scale("decoder.0/attention=1.5");
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->scope, "decoder.0/attention");
  EXPECT_EQ(scale->factor, 1.5);
  EXPECT_EQ(parse_scale("a=b=2")->scope, "a=b");
  for (const char* wrong : {"", "kv", "=2", "kv=", "kv=0", "kv=-1", "kv=2x", "kv=inf", "kv=1e9"}) {
    EXPECT_FALSE(parse_scale(wrong)) << wrong;
  }
}

TEST(SizeScale, ConcernsAScopeAndItsInnerScopes) {
  EXPECT_TRUE(lies_under("kv", "kv"));
  EXPECT_TRUE(lies_under("kv/cache", "kv"));
  EXPECT_FALSE(lies_under("kvs", "kv"));
  EXPECT_FALSE(lies_under("model/kv", "kv"));
  const std::vector<SizeScale> scales = {{"kv", 2}, {"kv/cache", 3}, {"other", 5}};
  EXPECT_EQ(factor_for("kv/cache", scales), 6);
  EXPECT_EQ(factor_for("kv/k", scales), 2);
  EXPECT_EQ(factor_for("", scales), 1);
}

TEST(SizeScale, MakesWholePages) {
  EXPECT_EQ(scaled(1000, 1, 64), 1000u) << "as it was";
  EXPECT_EQ(scaled(1024, 1.5, 1024), 2048u);
  EXPECT_EQ(scaled(1024, 0.001, 1024), 1024u);
  EXPECT_EQ(scaled(0, 7, 1024), 0u);
  EXPECT_GE(scaled(~std::uint64_t{0}, 1e6, 64), 1ull << 60) << "and does not overflow";
}

}  // namespace
}  // namespace ttmem::fit
