// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace ttmem::bench {

using Layout = std::array<ttmem_cb, kCbs>;

// Returns the CB bytes of a device without a ledger. Uses the method of the seeds at each
// registration: collects the regions of all live programs, groups them by core, sorts and merges
// them.
[[nodiscard]] std::uint64_t recompute(const std::vector<Layout>& programs);

}  // namespace ttmem::bench
