// SPDX-License-Identifier: Apache-2.0
//
// Joins the lines of a message that was wrapped by hand, or by a terminal. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ttmem::explain {

// A sentence, and how much of the text it takes.
struct Sentence {
  std::string text{};
  std::size_t end = 0;  // offset of the first line behind the sentence
};

// Returns the sentence that begins at offset `begin` of the first line of `text`. Joins the next
// line if its first word follows the last word of the line before in the runtime's message. `words`
// is the runtime's message between spaces, with "#" in place of every number and "@" in place of
// every name of a memory ("DRAM", "L1"); variants are separated by " | ". Joins nothing if `words`
// is empty.
//
// Then replaces each "{}" by the next line, as long as the next line is a single value. Old
// runtimes print the message with "{}" in place of its arguments, and then one argument per line.
[[nodiscard]] Sentence sentence_at(std::string_view text, std::size_t begin,
                                   std::string_view words);

}  // namespace ttmem::explain
