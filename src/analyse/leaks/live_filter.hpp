// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/leaks/filter.hpp"
#include "analyse/selection/select.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::leaks {

// Returns true if an allocation or program of the snapshot, which has this kind, is to be searched.
template <typename Item>
[[nodiscard]] bool takes(const model::Snapshot& snapshot, const Filter& filter, Kind kind,
                         const Item& item) {
  return filter.takes(kind) && (!filter.pid || selection::is_of(snapshot, item, *filter.pid));
}

}  // namespace ttmem::leaks
