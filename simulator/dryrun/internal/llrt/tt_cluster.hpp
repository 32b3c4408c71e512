// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/device_types.hpp>
#include <unordered_map>

namespace tt {

// TT-Metal's access to the chips of the machine. The map of uids is empty, because simulated chips
// have no uid.
class Cluster {
 public:
  const std::unordered_map<ChipId, std::uint64_t>& get_unique_chip_ids() const { return ids_; }

 private:
  std::unordered_map<ChipId, std::uint64_t> ids_;
};

}  // namespace tt
