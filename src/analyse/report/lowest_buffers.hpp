// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/core_mask.hpp"

namespace ttmem::report {

// Where the lowest L1 buffer lies. Buffers take their range on every core, but for those with banks
// of their own; so it is enough to know the lowest of each set of cores. A change takes logarithmic
// time. Not thread-safe.
class LowestBuffers {
 public:
  // `cores`: those that it takes its range on; null: every core.
  void add(std::uint64_t address, const CoreMask* cores);
  // It was added before.
  void remove(std::uint64_t address, const CoreMask* cores);

  // Of the buffers on every core; none: there are none.
  [[nodiscard]] std::optional<std::uint64_t> on_every_core() const {
    return lockstep_.empty() ? std::nullopt : std::optional(lockstep_.begin()->first);
  }
  [[nodiscard]] bool has_own_banks() const { return own_live_ > 0; }
  // Calls visit(cores, address) for each set of cores with buffers of its own.
  template <typename Visitor>
  void for_each_own(Visitor&& visit) const {
    for (const Part& part : own_) {
      if (!part.addresses.empty()) visit(part.cores, part.addresses.begin()->first);
    }
  }

 private:
  using Addresses = std::map<std::uint64_t, std::uint32_t>;  // and how many buffers begin there
  struct Part {
    CoreMask cores;
    Addresses addresses;
  };
  [[nodiscard]] Addresses& own(const CoreMask& cores);

  Addresses lockstep_;
  std::vector<Part> own_;
  std::uint64_t own_live_ = 0;
};

}  // namespace ttmem::report
