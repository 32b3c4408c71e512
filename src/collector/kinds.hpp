// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "model/snapshot.hpp"
#include "segment/layout/layout.hpp"

namespace ttmem::collector {

// What the model calls a kind of the segment, which is below segment::kKinds.
[[nodiscard]] constexpr model::Kind model_kind(std::size_t kind) {
  constexpr std::array<model::Kind, segment::kKinds> kinds = {
      model::Kind::dram,  model::Kind::l1,     model::Kind::system, model::Kind::l1_small,
      model::Kind::trace, model::Kind::kernel, model::Kind::cb};
  return kinds[kind];
}

}  // namespace ttmem::collector
