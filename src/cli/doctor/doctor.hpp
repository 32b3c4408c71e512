// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "read/model/check.hpp"

namespace ttmem::doctor {

// Checks everything that measuring needs, and frequent causes of unexpected results: driver and
// chips, shared memory, processes, the runtime and its adapter, this shell. Changes nothing.
[[nodiscard]] std::vector<model::Check> examine();

}  // namespace ttmem::doctor
