// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/leaks/filter.hpp"
#include "analyse/selection/select.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::leaks {

// True if an allocation or program of the snapshot, which is of that kind, is to be looked at.
template <typename Item>
[[nodiscard]] bool takes(const model::Snapshot& snapshot, const Filter& filter, Kind kind,
                         const Item& item) {
  return filter.takes(kind) && (!filter.pid || selection::is_of(snapshot, item, *filter.pid));
}

}  // namespace ttmem::leaks
