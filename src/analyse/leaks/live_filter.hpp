// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/leaks/filter.hpp"
#include "analyse/selection/select.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::leaks {

// Returns true if the filter selects an allocation or program of the snapshot. `kind` is the kind
// of the allocation or program.
template <typename Item>
[[nodiscard]] bool takes(const model::Snapshot& snapshot, const Filter& filter, Kind kind,
                         const Item& item) {
  return filter.takes(kind) && (!filter.pid || selection::is_of(snapshot, item, *filter.pid));
}

}  // namespace ttmem::leaks
