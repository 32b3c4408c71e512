// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace ttmem::bench {

using Layout = std::array<ttmem_cb, kCbs>;

// Returns the CB bytes of a device without a ledger: collects the regions of all live programs,
// groups the regions by core, then sorts and merges them. The trackers of the seeds
// (docs/internals/seeds.md) do this at each registration of a program.
[[nodiscard]] std::uint64_t recompute(const std::vector<Layout>& programs);

}  // namespace ttmem::bench
