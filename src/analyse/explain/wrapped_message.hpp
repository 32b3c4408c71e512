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

// Returns the sentence that begins at offset `begin` of the first line of `text`. The next line is
// joined if the runtime's message has the last word of one line and the first word of the next line
// side by side. `words` is the message between spaces, with "#" in place of every number and "@" in
// place of every name of a memory ("DRAM", "L1"); variants are separated by " | ". Joins nothing if
// `words` is empty.
//
// Then replaces each "{}" by the next line, while that line is a single value: old runtimes print
// the text of the message without its arguments, and one argument in each following line.
[[nodiscard]] Sentence sentence_at(std::string_view text, std::size_t begin,
                                   std::string_view words);

}  // namespace ttmem::explain
