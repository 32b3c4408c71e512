// SPDX-License-Identifier: Apache-2.0
//
// Allocations with something in common, added up. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

enum class GroupBy : std::uint8_t { label, kind, process, device, scope, job };

// "label", "kind", "process", "device", "scope" or "job".
[[nodiscard]] Result<GroupBy> parse_group_by(std::string_view text);
[[nodiscard]] std::string_view name_of(GroupBy by);

// An allocation on several devices counts once, with its bytes on all of them; grouped by device it
// counts in the group of each, with its bytes there.
struct AllocationGroup {
  std::string name;  // "dram", "4711 python3", "0"; empty: no label, no scope, no job
  model::State state = model::State::alive;  // of their processes: the dead are apart
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;      // as asked for
  model::Bytes physical_bytes;  // unknown when that of one of them is
  std::uint64_t largest_bytes = 0;
};

// What takes the most first, without what is left out of sums. `allocations` is
// select_allocations() of the same snapshot.
[[nodiscard]] std::vector<AllocationGroup> group_allocations(
    const model::Snapshot& snapshot, const std::vector<model::Allocation>& allocations, GroupBy by);

// What `ttmem allocs --group-by` prints: one line a group.
[[nodiscard]] std::string allocation_groups_text(const std::vector<AllocationGroup>& groups,
                                                 GroupBy by, const text::TextOptions& options);

}  // namespace ttmem::views
