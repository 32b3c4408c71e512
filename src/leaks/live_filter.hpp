// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "leaks/filter.hpp"
#include "model/snapshot.hpp"
#include "views/select.hpp"

namespace ttmem::leaks {

// True if an allocation or program of the snapshot, which is of that kind, is to be looked at.
template <typename Item>
[[nodiscard]] bool takes(const model::Snapshot& snapshot, const Filter& filter, Kind kind,
                         const Item& item) {
  return filter.takes(kind) && (!filter.pid || views::is_of(snapshot, item, *filter.pid));
}

}  // namespace ttmem::leaks
