// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/allocator.hpp"

#include <array>

namespace ttmem::fit {
namespace {

placement::FreeList space_of(const placement::MemoryMap& map, Kind kind) {
  const placement::MemoryRange region = map.region(kind);
  return {region.begin, region.bytes(), map.step()};
}

}  // namespace

static_assert(kBankKinds == std::array{Kind::dram, Kind::l1, Kind::l1_small, Kind::trace});

Allocator::Allocator(const placement::MemoryMap& map)
    : map_(map),
      spaces_{space_of(map, Kind::dram), space_of(map, Kind::l1), space_of(map, Kind::l1_small),
              space_of(map, Kind::trace)} {}

}  // namespace ttmem::fit
