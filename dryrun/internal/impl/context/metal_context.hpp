// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/device_types.hpp>
#include <tt-metalium/hal_types.hpp>
#include <unordered_map>

namespace tt::tt_metal {

// What TT-Metal knows of the machine. Chips that are not there have no number of their own.
class MetalContext {
 public:
  class Cluster {
   public:
    const std::unordered_map<ChipId, std::uint64_t>& get_unique_chip_ids() const { return ids_; }

   private:
    std::unordered_map<ChipId, std::uint64_t> ids_;
  };
  class Hal {
   public:
    // Compute cores are the only ones with programs.
    std::uint32_t get_programmable_core_type_index(HalProgrammableCoreType) const { return 0; }
  };

  static MetalContext& instance();
  const Cluster& get_cluster() const { return cluster_; }
  const Hal& hal() const { return hal_; }

 private:
  Cluster cluster_;
  Hal hal_;
};

}  // namespace tt::tt_metal
