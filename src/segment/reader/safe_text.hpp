// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::segment {

// A name that another process wrote, made fit for terminals and JSON: ends at the first NUL or at
// the end of the field, and holds well-formed UTF-8 only. Control characters, those that turn the
// writing direction, and every byte that is not UTF-8 (a character cut in half at the end of a
// field, too) become '?'.
[[nodiscard]] std::string safe_text(std::string_view field);

}  // namespace ttmem::segment
