// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/result.hpp"
#include "read/recording/file/rows.hpp"
#include "read/recording/file/tables.hpp"
#include "show/exports/format.hpp"

namespace ttmem::exports {

// Returns true if a ttnn report can show the allocation. Such an allocation lies in banks and has a
// known address.
[[nodiscard]] bool has_place(const recording::RecordedAllocation& allocation,
                             const recording::RecordedRequest& request);

// Returns true if at least one device of the set is selected.
[[nodiscard]] bool is_selected(const recording::Tables& tables, const Selection& selection,
                               recording::RowId set);

// The plan of a report: the events that become its operations.
struct TtnnPlan {
  bool placements = false;  // true: placements become operations, because no dispatch was recorded
  std::uint64_t candidates = 0;  // number of dispatches or placements in the recording
  // Times of the events to keep; nullopt: all events.
  std::optional<std::set<recording::Time>> chosen{};
  std::uint64_t without_place = 0;  // allocations that the report cannot show

  // Returns the number of operations besides the peaks; an estimate if only some times are chosen,
  // because several events may have the same time.
  [[nodiscard]] std::uint64_t operations() const { return chosen ? chosen->size() : candidates; }
};

// Plans the operations in one pass. A report has a row for each buffer at each operation. If there
// would be too many operations or rows, the plan divides the recording into stretches and keeps, in
// each stretch, the events at the time when L1 was fullest.
[[nodiscard]] Result<TtnnPlan> plan_operations(const ExportJob& job);

}  // namespace ttmem::exports
