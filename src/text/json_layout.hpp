// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::text {

// The layout of a JSON document. A document ends with a newline in both layouts.
enum class JsonLayout : std::uint8_t {
  pretty,
  line,  // everything in one line, for streams
};

// Returns the indentation for json_text(); -1 means one line.
[[nodiscard]] constexpr int indent_of(JsonLayout layout) noexcept {
  return layout == JsonLayout::pretty ? 2 : -1;
}

}  // namespace ttmem::text
