// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ttmem {

// Copies `text` to `to` and returns the number of bytes written. Replaces the middle of a text that
// is too long by an ellipsis, because names of tensors begin alike and differ at the end. `to` must
// have at least 8 bytes.
inline std::size_t shorten(std::string_view text, std::span<char> to) noexcept {
  constexpr std::string_view mark = "…";
  const auto continues = [&](std::size_t at) {  // true if `at` is inside a UTF-8 character
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  if (text.size() <= to.size()) return text.copy(to.data(), text.size());
  std::size_t head = (to.size() - mark.size()) / 2;
  std::size_t tail = text.size() - (to.size() - mark.size() - head);
  while (head > 0 && continues(head)) --head;
  while (continues(tail)) ++tail;
  char* end = std::copy_n(text.data(), head, to.data());
  end = std::copy(mark.begin(), mark.end(), end);
  end = std::copy(text.begin() + static_cast<std::ptrdiff_t>(tail), text.end(), end);
  return static_cast<std::size_t>(end - to.data());
}

// Returns `text` shortened to at most `max_bytes`, which must be at least 8.
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t max_bytes) {
  std::string shown(std::min(text.size(), max_bytes), '\0');
  shown.resize(shorten(text, shown));
  return shown;
}

}  // namespace ttmem
