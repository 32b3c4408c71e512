// SPDX-License-Identifier: Apache-2.0
//
// Groups of allocations and their sums. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes_on_devices.hpp"
#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

enum class GroupBy : std::uint8_t { label, kind, process, device, scope, job };

// Parses the value of --group-by: "label", "kind", "process", "device", "scope" or "job".
[[nodiscard]] Result<GroupBy> parse_group_by(std::string_view text);
[[nodiscard]] std::string_view name_of(GroupBy by);

// A group of allocations. An allocation on several devices counts once. If the groups are devices,
// the allocation counts in the group of each of its devices, with its bytes on that device.
struct AllocationGroup {
  // Name of the group, such as "dram", "4711 python3" or "0". Empty if the allocations have no
  // label, scope or job.
  std::string name;
  // State of the processes that hold the allocations. A group never has allocations of both living
  // and dead processes.
  model::State state = model::State::alive;
  std::uint64_t allocations = 0;
  // By the index of the device in Snapshot::devices.
  BytesOnDevices<std::uint32_t> logical;
  BytesOnDevices<std::uint32_t> physical;
  bool physical_known = true;       // false if the physical size of any member is unknown
  std::uint64_t largest_bytes = 0;  // the largest member on all its devices; physical where known
  std::uint64_t largest_per_device = 0;

  // Returns the physical bytes if they are known, else the logical bytes.
  [[nodiscard]] const BytesOnDevices<std::uint32_t>& taken() const {
    return physical_known ? physical : logical;
  }
};

// Returns the groups, the largest on one device first. `allocations` is select_allocations() of the
// same snapshot. An allocation that is `left_out` of all sums is in no group.
[[nodiscard]] std::vector<AllocationGroup> group_allocations(
    const model::Snapshot& snapshot, const std::vector<model::Allocation>& allocations, GroupBy by);

// Returns the output of `ttmem allocs --group-by`: one line per group.
[[nodiscard]] std::string allocation_groups_text(const std::vector<AllocationGroup>& groups,
                                                 GroupBy by, const text::TextOptions& options);

}  // namespace ttmem::views
