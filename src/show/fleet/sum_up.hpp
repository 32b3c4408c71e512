// SPDX-License-Identifier: Apache-2.0
//
// From hosts to a fleet. Pure, safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "show/fleet/fleet.hpp"

namespace ttmem::fleet {

// Which host comes first.
enum class Order : std::uint8_t {
  headroom,   // the least L1 on a core, then the least DRAM on a device
  dram,       // the largest share of its DRAM in use
  l1,         // the largest share of its L1
  processes,  // the most
  host,       // by name
};
inline constexpr std::array<std::string_view, 5> kOrderNames = {"headroom", "dram", "l1",
                                                                "processes", "host"};
[[nodiscard]] Result<Order> parse_order(std::string_view text);

// Sorts the hosts, and adds them up: over all, and by job. A machine that answers under two names
// is counted once: the second keeps its names, and a fault that says so. What is unknown comes
// after what is known, and hosts with a fault at the end. `refused` has a sentence for each query
// that a Prometheus did not answer. When something is missing, all sums are "at least".
[[nodiscard]] Fleet sum_up(std::vector<Host> hosts, Order order,
                           std::vector<std::string> refused = {});

}  // namespace ttmem::fleet
