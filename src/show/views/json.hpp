// SPDX-License-Identifier: Apache-2.0
//
// Snapshots as JSON for other programs. Sizes are integers in bytes, and unknown values are null.
// The output is valid JSON even if strings contain invalid UTF-8. Pure, safe from any thread.
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

// Returns the snapshot in schema ttmem.snapshot.v1. All documents of this file end with a newline.
[[nodiscard]] std::string snapshot_json(const model::Snapshot& snapshot, JsonLayout layout);

// Returns snapshot_json() with two more lists in the order of the snapshot, `allocations` and
// `programs`. Each entry of these lists has the index of its device in `devices`. A reader can
// rebuild the Snapshot from this text, except for the parts that only `ttmem leaks` needs.
[[nodiscard]] std::string snapshot_with_lists_json(const model::Snapshot& snapshot,
                                                   JsonLayout layout);

// Return parts of snapshot_with_lists_json() as one line of JSON without a newline. figures_json()
// returns one device without its cores. cores_json() returns the cores of a device.
[[nodiscard]] std::string figures_json(const model::Device& device);
[[nodiscard]] std::string cores_json(const std::vector<model::Core>& cores);

// Returns a document in schema ttmem.devices.v1: number, uid, bus id, board and arch of each
// device, without figures.
[[nodiscard]] std::string devices_json(const model::Snapshot& snapshot, JsonLayout layout);

// Returns the allocations in schema ttmem.allocations.v1. `allocations` is select_allocations() of
// the same snapshot. If `allocations` has only the first entries of that list, `total` is the
// length of the whole list.
[[nodiscard]] std::string allocations_json(const model::Snapshot& snapshot,
                                           const std::vector<model::Allocation>& allocations,
                                           JsonLayout layout,
                                           std::optional<std::size_t> total = std::nullopt);

// Returns the programs in schema ttmem.programs.v1. `programs` is select_programs() of the same
// snapshot. If `programs` has only the first entries of that list, `total` is the length of the
// whole list.
[[nodiscard]] std::string programs_json(const model::Snapshot& snapshot,
                                        const std::vector<model::Program>& programs,
                                        JsonLayout layout,
                                        std::optional<std::size_t> total = std::nullopt);

// Returns the groups in schema ttmem.allocation_groups.v1.
[[nodiscard]] std::string allocation_groups_json(const model::Snapshot& snapshot,
                                                 const std::vector<AllocationGroup>& groups,
                                                 GroupBy by, JsonLayout layout);

// Return parts of allocations_json() and programs_json() as one line of JSON without a newline: one
// entry of a list, or the circular buffers of a program.
[[nodiscard]] std::string allocation_json(const model::Snapshot& snapshot,
                                          const model::Allocation& allocation);
[[nodiscard]] std::string program_json(const model::Snapshot& snapshot,
                                       const model::Program& program);
[[nodiscard]] std::string cbs_json(const model::Snapshot& snapshot, const model::Program& program);

// Return the lists of allocations, programs or groups as CSV (see csv.hpp). The columns are the
// keys of an entry in the JSON list. The column "cbs" of a program has only the number of its
// circular buffers.
[[nodiscard]] std::string allocations_csv(const model::Snapshot& snapshot,
                                          const std::vector<model::Allocation>& allocations);
[[nodiscard]] std::string programs_csv(const model::Snapshot& snapshot,
                                       const std::vector<model::Program>& programs);
[[nodiscard]] std::string allocation_groups_csv(const std::vector<AllocationGroup>& groups,
                                                GroupBy by);

}  // namespace ttmem::views
