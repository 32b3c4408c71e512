// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/saturating.hpp"
#include "model/snapshot.hpp"

namespace ttmem::collector {

// A sum with an unknown part is unknown.
constexpr void add_to(model::Bytes& sum, model::Bytes part) {
  sum = sum && part ? model::Bytes(saturating_add(*sum, *part)) : std::nullopt;
}

}  // namespace ttmem::collector
