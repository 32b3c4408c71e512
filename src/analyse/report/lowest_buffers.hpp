// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/core_mask.hpp"

namespace ttmem::report {

// Finds the lowest L1 buffer. Most buffers take their range on every core. Buffers with banks of
// their own take their range only on some cores. So this object keeps one list of addresses for the
// buffers on every core, and one list for each set of cores with banks of its own. A change takes
// logarithmic time. Not thread-safe.
class LowestBuffers {
 public:
  // Adds a buffer. `cores` are the cores on which the buffer takes its range; null means every
  // core.
  void add(std::uint64_t address, const CoreMask* cores);
  // Removes a buffer that was added before.
  void remove(std::uint64_t address, const CoreMask* cores);

  // Returns the lowest address of the buffers that take their range on every core; nullopt if there
  // are no such buffers.
  [[nodiscard]] std::optional<std::uint64_t> on_every_core() const {
    return lockstep_.empty() ? std::nullopt : std::optional(lockstep_.begin()->first);
  }
  [[nodiscard]] bool has_own_banks() const { return own_live_ > 0; }
  // Calls visit(cores, address) for each set of cores that has buffers of its own. `address` is the
  // lowest address of these buffers.
  template <typename Visitor>
  void for_each_own(Visitor&& visit) const {
    for (const Part& part : own_) {
      if (!part.addresses.empty()) visit(part.cores, part.addresses.begin()->first);
    }
  }

 private:
  // By address: number of buffers that begin at the address.
  using Addresses = std::map<std::uint64_t, std::uint32_t>;
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
