// SPDX-License-Identifier: Apache-2.0
#include "show/exports/snapshot_texts.hpp"

#include <array>
#include <utility>
#include <vector>

namespace ttmem::exports {
namespace {

// The viewer hides a frame if its name contains one of these words.
constexpr std::array<std::string_view, 8> kHidden = {
    "unwind::unwind",    "CapturedTraceback::gather",
    "gather_with_cpp",   "_start",
    "__libc_start_main", "PyEval_",
    "PyObject_",         "PyFunction_"};

// Returns the name with '_' and ':' replaced by '-' in each of these words, so that the viewer does
// not hide the frame.
std::string shown_name(std::string name) {
  for (const std::string_view word : kHidden) {
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at)) {
      for (std::size_t i = at; i < at + word.size(); ++i) {
        if (name[i] == '_' || name[i] == ':') name[i] = '-';
      }
    }
  }
  return name;
}

}  // namespace

Shared SnapshotTexts::word(std::string_view word) {
  const auto at = words_.find(word);
  if (at != words_.end()) return at->second;
  return words_[std::string(word)] = encoder_.share(word);
}

Shared SnapshotTexts::frames(const Stack& stack) {
  std::vector<Shared> frames;
  for (auto name = stack.rbegin(); name != stack.rend(); ++name) {
    const auto [at, is_new] = frames_.try_emplace(*name);
    if (is_new) {
      const std::array<EncodedField, 3> fields = {{{word("filename"), word("ttmem")},
                                                   {word("line"), std::uint64_t{0}},
                                                   {word("name"), word(shown_name(*name))}}};
      at->second = encoder_.share(EncodedFields(fields));
    }
    frames.push_back(at->second);
  }
  return encoder_.share(std::span<const Shared>(frames));
}

}  // namespace ttmem::exports
