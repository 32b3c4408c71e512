// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyse/leaks/leaks.hpp"
#include "text/text.hpp"

namespace ttmem::leaks {

// Returns the output of `ttmem leaks`: for each class of leaks a list of at most `top` lines, then
// the next step for the user, and what could not be searched. If there are no leaks, says what was
// searched. Pure.
[[nodiscard]] std::string leaks_text(const Leaks& leaks, std::size_t top,
                                     const text::TextOptions& options);

}  // namespace ttmem::leaks
