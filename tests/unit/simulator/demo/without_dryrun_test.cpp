// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "simulator/demo/demo.hpp"

namespace ttmem::demo {
namespace {

TEST(DemoWithoutTheDryRun, SaysHowToBuildWithTheDryRun) {
  EXPECT_TRUE(scenarios().empty());
  const Result<void> result = run({});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("cmake -DTTMEM_DRYRUN=ON"), std::string::npos)
      << result.error().message;
}

}  // namespace
}  // namespace ttmem::demo
