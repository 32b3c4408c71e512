// SPDX-License-Identifier: Apache-2.0
#include "show/exports/stacks.hpp"

#include <gtest/gtest.h>

namespace ttmem::exports {
namespace {

using recording::RecordedRequest;

recording::Tables tables() {
  recording::Tables tables;
  tables.processes = {{.id = 1, .pid = 7, .name = "model"}};
  tables.devices = {{.id = 1, .process = 1, .arch = "blackhole"}, {.id = 2, .process = 1}};
  tables.texts = {"wqkv",
                  "b\xff"
                  "d"};
  tables.scopes = {"decoder.0/attention", "/a//b/"};
  return tables;
}

TEST(Stacks, BeginWithTheKindOfChipAndEndWithTheLabel) {
  EXPECT_EQ(stack_of(tables(), 1, RecordedRequest{.kind = Kind::l1, .label = 1, .scope = 1}),
            (Stack{"device blackhole", "l1", "model", "decoder.0", "attention", "wqkv"}));
  EXPECT_EQ(stack_of(tables(), 2, 0, 2), (Stack{"device", "cb", "model", "a", "b", "(no label)"}));
}

TEST(Stacks, NameKernelsByTheirRole) {
  EXPECT_EQ(stack_of(tables(), 1, RecordedRequest{.kind = Kind::kernel, .role = 2}).back(),
            "dispatch kernels");
  EXPECT_EQ(
      stack_of(tables(), 1, RecordedRequest{.kind = Kind::kernel, .role = 1, .label = 1}).back(),
      "wqkv");
}

TEST(Stacks, AreUtf8) {
  EXPECT_EQ(stack_of(tables(), 1, RecordedRequest{.label = 2}).back(),
            "b\xef\xbf\xbd"
            "d");
  EXPECT_EQ(valid_utf8("k\xc3\xa4se"), "k\xc3\xa4se");
  EXPECT_EQ(valid_utf8("\xc3"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace ttmem::exports
