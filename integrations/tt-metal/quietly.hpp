// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::tt_metal {

// Runs an action and ignores its exceptions (out of memory, an unexpected answer of the runtime),
// because exceptions must not reach the program. If the action throws, its event is not recorded.
template <typename Action>
void quietly(Action action) noexcept {
  try {
    action();
  } catch (...) {  // NOLINT(bugprone-empty-catch): see above
  }
}

}  // namespace ttmem::tt_metal
