// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/hal_types.hpp>

#include "llrt/tt_cluster.hpp"

namespace tt::tt_metal {

// TT-Metal's access to the machine.
class MetalContext {
 public:
  class Hal {
   public:
    // Returns 0, because only compute cores have programs.
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
