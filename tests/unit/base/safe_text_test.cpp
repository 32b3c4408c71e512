// SPDX-License-Identifier: Apache-2.0
#include "base/safe_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttmem {
namespace {

// Replaces the document type of the JSON library in this test.
struct Document {
  enum class error_handler_t { replace };
  std::string text;
  [[nodiscard]] std::string dump(int, char, bool, error_handler_t) const { return text; }
};

TEST(SafeText, ReplacesTerminalControlCharacters) {
  EXPECT_EQ(safe_text("a\x1b[31mb\rc\x07\x7f\td\ne"), "a?[31mb?c???d?e");
  EXPECT_EQ(safe_text("a\xc2\x9b\x33\x31m \xe2\x80\xae \xe2\x81\xa6 \xd8\x9c"), "a?31m ? ? ?");
  EXPECT_EQ(safe_text("bytes \x9b\xff cut \xc3"), "bytes ?? cut ?");
  EXPECT_EQ(safe_text("käse 内存 🙂"), "käse 内存 🙂");
  EXPECT_EQ(safe_text(std::string_view("to the\0NUL", 10)), "to the");
  EXPECT_EQ(safe_lines("one\r\ntwo\x1b\n"), "one?\ntwo?\n");
}

TEST(SafeText, EscapesCharactersThatTheJsonLibraryLeaves) {
  const auto escaped = [](const char* text) { return json_text(Document{text}); };
  EXPECT_EQ(escaped("{\n  \"k\": \"käse 内存\"\n}"), "{\n  \"k\": \"käse 内存\"\n}");
  EXPECT_EQ(escaped("\"\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0\""),
            "\"\\u007f\\u0080\\u009b\\u009f\xc2\xa0\"");
  EXPECT_EQ(escaped("\"\xe2\x80\xae…\xe2\x80\xa8\xd8\x9c\""), "\"\\u202e…\\u2028\\u061c\"");
}

TEST(SafeText, KeepsTabsAndLineBreaksInQuotedCsv) {
  EXPECT_EQ(csv_field("a\tb"), "a\tb");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_field("say \"hi\"\r\x1b"), "\"say \"\"hi\"\"??\"");
}

}  // namespace
}  // namespace ttmem
