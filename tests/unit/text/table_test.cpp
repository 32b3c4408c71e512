// SPDX-License-Identifier: Apache-2.0
#include "text/table.hpp"

#include <gtest/gtest.h>

namespace ttmem::text {
namespace {

using enum Column::Align;

Table example() {
  Table table(
      {{"PID"}, {"USER", left, 2}, {"CB", right, 1}, {"COMMAND", left, 0, Column::Cut::end}});
  table.add_row({{"4711"}, {"alice"}, {"29.0 MiB"}, {"python3 serve.py --model llama"}});
  table.add_row({{"7"}, {"模型"}, {"n/a"}, {"a\x1b[31mb"}});
  return table;
}

TEST(Table, AlignsColumnsByDisplayWidth) {
  EXPECT_EQ(example().render(0, {.width = 100}),
            " PID  USER         CB  COMMAND\n"
            "4711  alice  29.0 MiB  python3 serve.py --model llama\n"
            "   7  模型        n/a  a?[31mb\n");
}

TEST(Table, CutsTheFlexibleColumnFirst) {
  EXPECT_EQ(example().render(0, {.width = 40}),
            " PID  USER         CB  COMMAND\n"
            "4711  alice  29.0 MiB  python3 serve.py…\n"
            "   7  模型        n/a  a?[31mb\n");
}

TEST(Table, CutsNamesInTheMiddle) {
  Table table({{"SIZE"}, {"LABEL", left, 0, Column::Cut::middle}});
  table.add_row({{"1"}, {"model.layers.0.attention.wq.weight"}});
  table.add_row({{"2"}, {"model.layers.0.attention.wk.weight"}});
  EXPECT_EQ(table.render(0, {.width = 27}),
            "SIZE  LABEL\n"
            "   1  model.laye….wq.weight\n"
            "   2  model.laye….wk.weight\n");
}

TEST(Table, IsNotCutWhenNothingMayBeShortened) {
  EXPECT_EQ(example().render(0, {.width = 10, .shorten = false}),
            example().render(0, {.width = 100}));
}

TEST(Table, DropsColumnsByTheirNumberWhenCuttingIsNotEnough) {
  const std::string narrow = example().render(0, {.width = 32});
  EXPECT_EQ(narrow.find("USER"), std::string::npos);
  EXPECT_NE(narrow.find("CB"), std::string::npos);
  const std::string narrower = example().render(0, {.width = 20});
  EXPECT_EQ(narrower.find("CB"), std::string::npos);
  EXPECT_NE(narrower.find("PID"), std::string::npos);
}

}  // namespace
}  // namespace ttmem::text
