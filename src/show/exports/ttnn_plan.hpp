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

// Whether a report of ttnn can show it: it lies in banks, at a known address.
[[nodiscard]] bool has_place(const recording::RecordedAllocation& allocation,
                             const recording::RecordedRequest& request);

// Whether one of the devices of the set is.
[[nodiscard]] bool is_selected(const recording::Tables& tables, const Selection& selection,
                               recording::RowId set);

// What becomes an operation of a report.
struct TtnnPlan {
  bool placements = false;       // placements of programs: no dispatch was recorded
  std::uint64_t candidates = 0;  // dispatches or placements that there are
  std::optional<std::set<recording::Time>> chosen{};  // those at these times; none: all
  std::uint64_t without_place = 0;                    // allocations that cannot be shown
};

// A report has a row for each buffer at each operation. When that would be too many, those are
// chosen at which L1 was fullest, one for each stretch of the recording. One pass.
[[nodiscard]] Result<TtnnPlan> plan_operations(const ExportJob& job);

}  // namespace ttmem::exports
