// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/lowest_buffers.hpp"

#include <algorithm>

namespace ttmem::report {

LowestBuffers::Addresses& LowestBuffers::own(const CoreMask& cores) {
  const auto known =
      std::find_if(own_.begin(), own_.end(), [&](const Part& part) { return part.cores == cores; });
  return known != own_.end() ? known->addresses : own_.emplace_back(Part{cores, {}}).addresses;
}

void LowestBuffers::add(std::uint64_t address, const CoreMask* cores) {
  if (cores != nullptr) ++own_live_;
  ++(cores == nullptr ? lockstep_ : own(*cores))[address];
}

void LowestBuffers::remove(std::uint64_t address, const CoreMask* cores) {
  if (cores != nullptr) --own_live_;
  Addresses& addresses = cores == nullptr ? lockstep_ : own(*cores);
  const auto known = addresses.find(address);
  if (known != addresses.end() && --known->second == 0) addresses.erase(known);
}

}  // namespace ttmem::report
