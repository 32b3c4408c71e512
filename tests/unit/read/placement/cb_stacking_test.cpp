// SPDX-License-Identifier: Apache-2.0
#include "read/placement/cb_stacking.hpp"

#include <gtest/gtest.h>

namespace ttmem::placement {
namespace {

TEST(CbStacking, PlacesTheExampleOfItsHeader) {
  const std::vector<DeclaredCb> declared = {
      {{{0, 0, 3, 0}}, 100, {}}, {{{2, 0, 5, 0}}, 50, {}}, {{{6, 0, 6, 0}}, 20, {}}};
  const StackedCbs stacked = stack_circular_buffers(declared, 1000, 10);
  EXPECT_EQ(stacked.addresses, (std::vector<std::uint64_t>{1000, 1100, 1000}));
  ASSERT_EQ(stacked.stacks.size(), 3u);
  EXPECT_EQ(stacked.stacks[0].end, 1150u);
  EXPECT_EQ(stacked.stacks[1].end, 1150u);
  EXPECT_EQ(stacked.stacks[2].end, 1020u);
}

TEST(CbStacking, LeavesACbInAnL1BufferAtItsAddress) {
  const std::vector<DeclaredCb> declared = {{{{0, 0, 3, 0}}, 100, 5000}, {{{0, 0, 3, 0}}, 50, {}}};
  const StackedCbs stacked = stack_circular_buffers(declared, 1001, 10);
  EXPECT_EQ(stacked.addresses, (std::vector<std::uint64_t>{5000, 1010}));
  EXPECT_EQ(stacked.stacks[0].end, 1060u);
}

}  // namespace
}  // namespace ttmem::placement
