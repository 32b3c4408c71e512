// SPDX-License-Identifier: Apache-2.0
//
// Snapshots for programs. Integers are bytes, unknown is null, and the output is valid JSON
// whatever bytes the strings contain. Pure, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"
#include "show/views/allocation_groups.hpp"
#include "text/json_layout.hpp"

namespace ttmem::views {

using text::JsonLayout;

// Returns the snapshot in schema ttmem.snapshot.v1. All documents in this file end with a newline.
[[nodiscard]] std::string snapshot_json(const model::Snapshot& snapshot, JsonLayout layout);

// Returns snapshot_json() with two more lists in the order of the snapshot, `allocations` and
// `programs`. Each entry has the index of its device in `devices`. A reader can rebuild the
// Snapshot from this text, except for the parts that only `ttmem leaks` needs.
[[nodiscard]] std::string snapshot_with_lists_json(const model::Snapshot& snapshot,
                                                   JsonLayout layout);

// Return parts of snapshot_with_lists_json(): one device without its cores, or the cores of a
// device. The JSON has one line without a newline.
[[nodiscard]] std::string figures_json(const model::Device& device);
[[nodiscard]] std::string cores_json(const std::vector<model::Core>& cores);

// Returns schema ttmem.devices.v1: number, uid, bus id, board and arch of each device, without
// figures.
[[nodiscard]] std::string devices_json(const model::Snapshot& snapshot, JsonLayout layout);

// Returns schema ttmem.allocations.v1. `allocations` is select_allocations() of the same snapshot,
// or its first entries if `total` has the length of the whole list.
[[nodiscard]] std::string allocations_json(const model::Snapshot& snapshot,
                                           const std::vector<model::Allocation>& allocations,
                                           JsonLayout layout,
                                           std::optional<std::size_t> total = std::nullopt);

// Returns schema ttmem.programs.v1. `programs` is select_programs() of the same snapshot, or its
// first entries if `total` has the length of the whole list.
[[nodiscard]] std::string programs_json(const model::Snapshot& snapshot,
                                        const std::vector<model::Program>& programs,
                                        JsonLayout layout,
                                        std::optional<std::size_t> total = std::nullopt);

// Returns schema ttmem.allocation_groups.v1.
[[nodiscard]] std::string allocation_groups_json(const model::Snapshot& snapshot,
                                                 const std::vector<AllocationGroup>& groups,
                                                 GroupBy by, JsonLayout layout);

// Return parts of allocations_json() and programs_json(): one entry of a list, or the circular
// buffers of a program. The JSON has one line without a newline.
[[nodiscard]] std::string allocation_json(const model::Snapshot& snapshot,
                                          const model::Allocation& allocation);
[[nodiscard]] std::string program_json(const model::Snapshot& snapshot,
                                       const model::Program& program);
[[nodiscard]] std::string cbs_json(const model::Snapshot& snapshot, const model::Program& program);

// Return the lists of allocations, programs or groups as CSV (csv.hpp). The keys of an entry are
// the columns. The column for a program's circular buffers has only their number.
[[nodiscard]] std::string allocations_csv(const model::Snapshot& snapshot,
                                          const std::vector<model::Allocation>& allocations);
[[nodiscard]] std::string programs_csv(const model::Snapshot& snapshot,
                                       const std::vector<model::Program>& programs);
[[nodiscard]] std::string allocation_groups_csv(const std::vector<AllocationGroup>& groups,
                                                GroupBy by);

}  // namespace ttmem::views
