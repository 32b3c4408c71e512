// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace ttmem::bench {

using Layout = std::array<ttmem_cb, kCbs>;

// The method of the seeds, which is the cost of each registration without a ledger: collects the
// regions of all live programs of a device, groups them by core, sorts and merges them. Returns the
// CB bytes of the device.
[[nodiscard]] std::uint64_t recompute(const std::vector<Layout>& programs);

}  // namespace ttmem::bench
