// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "text/text.hpp"

namespace ttmem::views {
namespace {

TEST(Printable, DisarmsTerminalSequences) {
  EXPECT_EQ(text::printable("a\x1b[2Jb\nc\x7f", true), "a?[2Jb?c?");
}

TEST(Printable, ReplacesInvalidUtf8) {
  EXPECT_EQ(text::printable("\xff\xc0\xaf ok", true), "??? ok");
  EXPECT_EQ(text::printable("\xed\xa0\x80", true), "???");  // a surrogate is invalid
  EXPECT_EQ(text::printable("\xe2\x82", true), "??");  // the last byte of the character is missing
  EXPECT_EQ(text::printable("\xc2\x9b"
                            "1m",
                            true),
            "?1m");  // CSI as one C1 character
}

TEST(Printable, KeepsUnicodeUnlessAsciiIsRequested) {
  EXPECT_EQ(text::printable("größe", true), "größe");
  EXPECT_EQ(text::printable("größe", false), "gr??e");
}

TEST(DisplayWidth, CountsCellsNotBytes) {
  EXPECT_EQ(text::display_width("größe"), 5U);
  EXPECT_EQ(text::display_width("模型"), 4U);
  EXPECT_EQ(text::display_width("e\u0301"), 1U);
  EXPECT_EQ(text::display_width("█▏"), 2U);
}

TEST(Cut, EndsInAnEllipsisAndNeverExceedsTheWidth) {
  EXPECT_EQ(text::cut("python3 serve.py", 9, true), "python3 …");
  EXPECT_EQ(text::cut("python3 serve.py", 9, false), "python3 ~");
  EXPECT_EQ(text::cut("short", 5, true), "short");
  EXPECT_EQ(text::cut("模型模型", 4, true),
            "模…");  // the next character needs two cells, but only one is left
  EXPECT_EQ(text::cut("abc", 0, true), "");
  EXPECT_EQ(text::cut_middle("layers.0.weight", 9, true), "laye…ight");
  EXPECT_EQ(text::cut_middle("layers.0.weight", 9, false), "laye~ight");
  EXPECT_EQ(text::cut_middle("short", 5, true), "short");
  EXPECT_EQ(text::cut_middle("模型模型模", 6, true), "模…模");
  EXPECT_EQ(text::cut_middle("abc", 1, true), "…");
  EXPECT_EQ(text::cut_middle("abc", 0, true), "");
}

TEST(Line, CutsAtTheWidthAndDropsBlanksAtTheEnd) {
  const text::TextOptions options{.width = 10};
  EXPECT_EQ(text::Line(options).add("0123456789").add("x").finish(), "012345678…\n");
  EXPECT_EQ(text::Line(options).add("01234").add("56789x").finish(), "012345678…\n");
  EXPECT_EQ(text::Line(options).add("a").pad_to(8).finish(), "a\n");
}

TEST(Line, ColoursOnlyOnRequest) {
  EXPECT_EQ(text::Line({.color = true}).add("a", text::Color::red).finish(), "\x1b[31ma\x1b[0m\n");
  EXPECT_EQ(text::Line({.color = false}).add("a", text::Color::red).finish(), "a\n");
}

TEST(Wrapped, BreaksAtBlanksWithTheLabelInTheFirstLine) {
  EXPECT_EQ(text::wrapped("one two three", 3, text::Color::plain, {.width = 10}, "A:"),
            "A: one two\n   three\n");
}

TEST(ToneOfShare, IsGoodUpTo60AWarningUpTo80BadAboveAndNoneWhenUnknown) {
  EXPECT_EQ(text::tone_of_share(0.6), text::Tone::good);
  EXPECT_EQ(text::tone_of_share(0.61), text::Tone::warn);
  EXPECT_EQ(text::tone_of_share(0.8), text::Tone::warn);
  EXPECT_EQ(text::tone_of_share(0.81), text::Tone::bad);
  EXPECT_EQ(text::tone_of_share(std::nullopt), text::Tone::none);
}

TEST(ColorOf, IsGreenYellowRedAndDistinctForEachPartOfL1) {
  EXPECT_EQ(text::color_of(text::Tone::good), text::Color::green);
  EXPECT_EQ(text::color_of(text::Tone::warn), text::Color::yellow);
  EXPECT_EQ(text::color_of(text::Tone::bad), text::Color::red);
  EXPECT_EQ(text::color_of(text::Tone::none), text::Color::dim);
  EXPECT_EQ(text::color_of(text::Tone::cbs), text::Color::magenta);
}

TEST(JoinedToFit, DropsWholePartsFromTheEnd) {
  const std::vector<std::string> parts = {"alpha", "", "beta", "gamma"};
  EXPECT_EQ(text::joined_to_fit(parts, 18), "alpha, beta, gamma");
  EXPECT_EQ(text::joined_to_fit(parts, 17), "alpha, beta");
  EXPECT_EQ(text::joined_to_fit(parts, 4), "");
  EXPECT_EQ(text::joined_to_fit({"größe", "b"}, 9, " · "), "größe · b");
}

TEST(JoinedToFit, CountsDroppedPartsOnRequest) {
  EXPECT_EQ(text::joined_to_fit({"alpha", "beta", "gamma"}, 17, ", ", true), "alpha, beta +1");
  EXPECT_EQ(text::joined_to_fit({"alpha", "beta", "gamma"}, 13, ", ", true), "alpha +2");
  EXPECT_EQ(text::joined_to_fit({"alpha", "beta"}, 11, ", ", true), "alpha, beta");
}

}  // namespace
}  // namespace ttmem::views
