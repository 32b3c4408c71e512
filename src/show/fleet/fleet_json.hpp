// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "show/fleet/fleet.hpp"
#include "show/views/json.hpp"

namespace ttmem::fleet {

// Returns the fleet in schema ttmem.fleet.v1 (docs/reference/json.md). Ends with a newline. Pure.
[[nodiscard]] std::string fleet_json(const Fleet& fleet, views::JsonLayout layout);

}  // namespace ttmem::fleet
