// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace ttmem::bench {

using Layout = std::array<ttmem_cb, kCbs>;

// The way of the seeds: the CB bytes of a device from the regions of all its live programs,
// collected, grouped by core, sorted and merged. What each registration costs without a ledger.
[[nodiscard]] std::uint64_t recompute(const std::vector<Layout>& programs);

}  // namespace ttmem::bench
