// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ttmem::model {

// The allocations and frees of a device since ttmem began to count. The counters never decrease.
struct DeviceCounters {
  std::uint32_t id = 0;
  std::optional<std::uint64_t> uid;
  std::string arch;  // empty: unknown
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
};

}  // namespace ttmem::model
