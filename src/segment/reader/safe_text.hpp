// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::segment {

// A text that another process wrote, made safe for terminals and JSON. It ends at the first NUL or
// at the end of the field, and is well-formed UTF-8. Control characters, those that change the
// writing direction, and every byte that is not UTF-8 (also of a character that the end of the
// field cuts in two) become '?'.
[[nodiscard]] std::string safe_text(std::string_view field);
// The same, but the ends of its lines stay.
[[nodiscard]] std::string safe_lines(std::string_view field);

}  // namespace ttmem::segment
