// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyse/leaks/leaks.hpp"
#include "text/text.hpp"

namespace ttmem::leaks {

// What `ttmem leaks` prints: a list for each class that has something, of at most `top` lines, what
// to do next, and what is not known. Without leaks, what was looked at. Pure.
[[nodiscard]] std::string leaks_text(const Leaks& leaks, std::size_t top,
                                     const text::TextOptions& options);

}  // namespace ttmem::leaks
