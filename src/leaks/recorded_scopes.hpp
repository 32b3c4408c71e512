// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "leaks/filter.hpp"
#include "leaks/outlived_scopes.hpp"
#include "recording/file/tables.hpp"

namespace ttmem::leaks {

// What was there at the end of its process, of its device or of the recording although its scope
// had been left.
//
// Whether a scope was left is known of the end of its process, or of the recording. A device may be
// closed in a scope that is left later: so of what was left on closed devices, scopes that were
// entered only once are not told. Not thread-safe; `tables` and `filter` must outlive it.
class RecordedScopes {
 public:
  // `counts` says of each device whether it is looked at.
  RecordedScopes(const recording::Tables& tables, const Filter& filter, std::vector<bool> counts)
      : tables_(tables), filter_(filter), counts_(std::move(counts)) {}

  void add(const recording::Allocation& allocation);
  void add(const recording::Program& program);

  void finish(Leaks& leaks);

 private:
  // What is on those devices that count; on none of them, its list of devices is empty.
  [[nodiscard]] Leak leak_on(const std::vector<recording::RowId>& devices) const;
  void add(recording::RowId device, std::uint32_t scope, recording::Ending ending, Outlived::Of of,
           Leak leak);

  const recording::Tables& tables_;
  const Filter& filter_;
  std::vector<bool> counts_;
  std::set<std::pair<recording::RowId, std::uint64_t>> programs_;  // one of a mesh counts once
  OutlivedScopes outlived_;
};

}  // namespace ttmem::leaks
