// SPDX-License-Identifier: Apache-2.0
//
// Processes and their allocations as sorted and filtered rows. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/view_state.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/process_text.hpp"

namespace ttmem::tui {

inline constexpr std::uint32_t kProcessColumns = 13;
inline constexpr std::uint32_t kAllocationColumns = 9;
[[nodiscard]] std::string_view process_column(std::uint32_t column);
[[nodiscard]] std::string_view allocation_column(std::uint32_t column);

// Returns the processes that match the filter and the device of the state, in the order of the
// state.
[[nodiscard]] std::vector<views::ProcessTotal> process_rows(const model::Snapshot& snapshot,
                                                            const ViewState& state);
// Returns the index of the selected process in `rows`, or 0 if that process is gone.
[[nodiscard]] int selected_row(const std::vector<views::ProcessTotal>& rows,
                               const ViewState& state);

// Returns a table of the first `count` processes from `first` on. Dead processes are red and marked
// as dead. `sorting` marks the sorted column; nullptr: no mark.
[[nodiscard]] Rows process_table(const std::vector<views::ProcessTotal>& rows, int first, int count,
                                 const Sorting* sorting, Display display);

// The live buffers and kernels of the opened process. Circular buffers belong to programs and are
// only counted, because thousands of cached programs have circular buffers at the same addresses.
struct AllocationRows {
  std::vector<const model::Allocation*> rows;  // unsorted; owned by the snapshot
  std::uint64_t cbs = 0;
  std::uint64_t programs = 0;
};
[[nodiscard]] AllocationRows allocation_rows(const model::Snapshot& snapshot,
                                             const ViewState& state);
// Returns a table of the `count` rows from `first` on. Sorts `list` only as far as these rows need.
[[nodiscard]] Rows allocation_table(const model::Snapshot& snapshot, AllocationRows& list,
                                    int first, int count, const Sorting& sorting, Display display);

}  // namespace ttmem::tui
