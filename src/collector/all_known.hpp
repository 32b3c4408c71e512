// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/kind_figures.hpp"

namespace ttmem::collector {

// The figures of a process. A kind that it does not report counts as a known zero.
[[nodiscard]] constexpr PerKind<KindFigures> all_known(PerKind<KindFigures> kinds) {
  for (KindFigures& figures : kinds) figures.known = kAllFigures;
  return kinds;
}

}  // namespace ttmem::collector
