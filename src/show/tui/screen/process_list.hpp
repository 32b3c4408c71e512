// SPDX-License-Identifier: Apache-2.0
//
// Lists of processes and of allocations, sorted and filtered. Pure, safe from any thread.
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

inline constexpr std::uint32_t kProcessColumns = 14;
inline constexpr std::uint32_t kAllocationColumns = 9;
[[nodiscard]] std::string_view process_column(std::uint32_t column);
[[nodiscard]] std::string_view allocation_column(std::uint32_t column);

// Returns the processes that match the filter, in the order of `state.sorting`. If
// `state.only_device` is set, returns only processes that use that device.
[[nodiscard]] std::vector<views::ProcessTotal> process_rows(const model::Snapshot& snapshot,
                                                            const ViewState& state);
// Returns the index of the selected process in `rows`, or 0 if `rows` does not have that process.
[[nodiscard]] int selected_row(const std::vector<views::ProcessTotal>& rows,
                               const ViewState& state);

// Returns a table of `count` processes, starting at index `first`. Dead processes are red and
// marked as dead. `sorting` adds an arrow to the sorted column; nullptr adds no arrow.
[[nodiscard]] Rows process_table(const std::vector<views::ProcessTotal>& rows, int first, int count,
                                 const Sorting* sorting, Display display);

// The live buffers and kernels of the opened process. Programs and their circular buffers are only
// counted, because thousands of cached programs have circular buffers at the same addresses.
struct AllocationRows {
  std::vector<const model::Allocation*> rows;  // unsorted; the snapshot owns the allocations
  std::uint64_t cbs = 0;
  std::uint64_t programs = 0;
};
[[nodiscard]] AllocationRows allocation_rows(const model::Snapshot& snapshot,
                                             const ViewState& state);
// Returns a table of `count` allocations, starting at index `first` of the sorted list. Sorts only
// this part of `list`, and leaves the other rows unsorted.
[[nodiscard]] Rows allocation_table(const model::Snapshot& snapshot, AllocationRows& list,
                                    int first, int count, const Sorting& sorting, Display display);

}  // namespace ttmem::tui
