// SPDX-License-Identifier: Apache-2.0
#include "show/exports/address_space.hpp"

#include <gtest/gtest.h>

namespace ttmem::exports {
namespace {

constexpr std::uint64_t kBase = AddressSpace::kBytes;

TEST(AddressSpace, RefusesATakenRange) {
  AddressSpace space(kBase);
  EXPECT_EQ(space.put_at(100, {50, {}}), kBase + 100);
  EXPECT_FALSE(space.put_at(100, {50, {}}));
  EXPECT_FALSE(space.put_at(149, {1, {}}));
  EXPECT_FALSE(space.put_at(90, {11, {}}));
  EXPECT_FALSE(space.put_at(0, {1000, {}}));
  EXPECT_TRUE(space.put_at(90, {10, {}}));
  EXPECT_TRUE(space.put_at(150, {1, {}}));
  space.remove(kBase + 100);
  EXPECT_TRUE(space.put_at(100, {50, {}}));
}

TEST(AddressSpace, ABlockEndsWhereTheNextBlockBegins) {
  AddressSpace space(kBase);
  EXPECT_FALSE(space.put_at(AddressSpace::kBytes - 1, {2, {}}));
  EXPECT_FALSE(space.put_at(0, {AddressSpace::kBytes + 1, {}}));
  EXPECT_TRUE(space.put_at(AddressSpace::kBytes - 1, {1, {}}));
}

TEST(AddressSpace, CoversEveryAddressEverUsed) {
  AddressSpace space(kBase);
  EXPECT_EQ(space.begin(), space.end());
  ASSERT_TRUE(space.put_at(100, {50, {}}));
  space.remove(kBase + 100);
  EXPECT_EQ(space.begin(), kBase + 100);
  EXPECT_EQ(space.end(), kBase + 150);
  space.reserve(1000);
  EXPECT_EQ(space.begin(), kBase);
  EXPECT_EQ(space.end(), kBase + 1000);
}

TEST(AddressSpace, UsesAddressesAgain) {
  AddressSpace space(kBase);
  const auto first = space.put({50, {}});
  ASSERT_TRUE(first);
  for (int i = 0; i < 1000; ++i) {
    const auto other = space.put({70, {}});
    ASSERT_TRUE(other);
    space.remove(*other);
  }
  EXPECT_EQ(space.end() - space.begin(), 120);
  EXPECT_EQ(space.find(*first)->bytes, 50);
}

}  // namespace
}  // namespace ttmem::exports
