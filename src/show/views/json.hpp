// SPDX-License-Identifier: Apache-2.0
//
// Snapshots for programs. Integers are bytes, unknown is null, and the output is valid JSON
// whatever bytes the strings hold. Pure, safe from any thread.
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

// Schema ttmem.snapshot.v1. Ends with a newline, as do the others.
[[nodiscard]] std::string snapshot_json(const model::Snapshot& snapshot, JsonLayout layout);

// The same with all allocations and programs, in the order of the snapshot: `allocations` and
// `programs`, whose entries also say at which place of `devices` they are. From this all of a
// Snapshot can be read again but for what only `ttmem leaks` needs.
[[nodiscard]] std::string snapshot_with_lists_json(const model::Snapshot& snapshot,
                                                   JsonLayout layout);

// Of that document one device without its cores, and the cores of a device; each in one line
// without a newline.
[[nodiscard]] std::string figures_json(const model::Device& device);
[[nodiscard]] std::string cores_json(const std::vector<model::Core>& cores);

// Schema ttmem.devices.v1: number, uid, bus id, board and arch of each device, without figures.
[[nodiscard]] std::string devices_json(const model::Snapshot& snapshot, JsonLayout layout);

// Schema ttmem.allocations.v1. `allocations` is select_allocations() of the same snapshot, or the
// first entries of a list of `total`.
[[nodiscard]] std::string allocations_json(const model::Snapshot& snapshot,
                                           const std::vector<model::Allocation>& allocations,
                                           JsonLayout layout,
                                           std::optional<std::size_t> total = std::nullopt);

// Schema ttmem.programs.v1. `programs` is select_programs() of the same snapshot, or the first
// entries of a list of `total`.
[[nodiscard]] std::string programs_json(const model::Snapshot& snapshot,
                                        const std::vector<model::Program>& programs,
                                        JsonLayout layout,
                                        std::optional<std::size_t> total = std::nullopt);

// Schema ttmem.allocation_groups.v1.
[[nodiscard]] std::string allocation_groups_json(const model::Snapshot& snapshot,
                                                 const std::vector<AllocationGroup>& groups,
                                                 GroupBy by, JsonLayout layout);

// Of those lists one entry, and of a program its circular buffers; each in one line without a
// newline.
[[nodiscard]] std::string allocation_json(const model::Snapshot& snapshot,
                                          const model::Allocation& allocation);
[[nodiscard]] std::string program_json(const model::Snapshot& snapshot,
                                       const model::Program& program);
[[nodiscard]] std::string cbs_json(const model::Snapshot& snapshot, const model::Program& program);

// The same lists as CSV (csv.hpp): the keys of an entry are the columns. Of a program's circular
// buffers there is only their number.
[[nodiscard]] std::string allocations_csv(const model::Snapshot& snapshot,
                                          const std::vector<model::Allocation>& allocations);
[[nodiscard]] std::string programs_csv(const model::Snapshot& snapshot,
                                       const std::vector<model::Program>& programs);
[[nodiscard]] std::string allocation_groups_csv(const std::vector<AllocationGroup>& groups,
                                                GroupBy by);

}  // namespace ttmem::views
