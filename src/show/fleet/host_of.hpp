// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "read/model/snapshot.hpp"
#include "show/fleet/fleet.hpp"

namespace ttmem::fleet {

// Shortens a text from another machine to at most 256 bytes, because a table has one line per host.
[[nodiscard]] std::string brief(std::string_view text);

// Returns the figures of a host from its Snapshot, which needs neither cores nor lists. `died` is
// the number of processes that died while they held memory, since the server started. Pure.
[[nodiscard]] Host host_of(std::string address, const model::Snapshot& snapshot,
                           std::optional<std::uint64_t> died);

}  // namespace ttmem::fleet
