// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::tt_metal {

// What goes wrong in here (no memory, a runtime that answers otherwise than expected) must not
// reach the program: what was to be recorded is then missing.
template <typename Action>
void quietly(Action action) noexcept {
  try {
    action();
  } catch (...) {  // NOLINT(bugprone-empty-catch): see above
  }
}

}  // namespace ttmem::tt_metal
