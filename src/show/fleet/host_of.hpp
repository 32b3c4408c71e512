// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "read/model/snapshot.hpp"
#include "show/fleet/fleet.hpp"

namespace ttmem::fleet {

// A text of another machine, at most some hundred bytes of it: a table has one line a host.
[[nodiscard]] std::string brief(std::string_view text);

// What a host holds, of a Snapshot of it, which needs neither cores nor lists. `died`: processes
// that died with memory since its server started. Pure.
[[nodiscard]] Host host_of(std::string address, const model::Snapshot& snapshot,
                           std::optional<std::uint64_t> died);

}  // namespace ttmem::fleet
