// SPDX-License-Identifier: Apache-2.0
//
// Sums up hosts to a fleet. Pure, safe from any thread.
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

// The order of the hosts.
enum class Order : std::uint8_t {
  headroom,   // the least headroom on a core first, then the least free DRAM on a device
  dram,       // the largest used share of DRAM first
  l1,         // the largest used share of L1 first
  processes,  // the most processes first
  host,       // by name
};
inline constexpr std::array<std::string_view, 5> kOrderNames = {"headroom", "dram", "l1",
                                                                "processes", "host"};
[[nodiscard]] Result<Order> parse_order(std::string_view text);

// Sorts the hosts and adds them up, over all hosts and by job. A machine that answers under two
// names counts once: the second Host keeps its names and gets a fault instead of its figures.
// Unknown values sort after known values, and hosts with a fault come last. `refused` has a
// sentence for each query that a Prometheus refused. If a part is missing, all sums are lower
// bounds.
[[nodiscard]] Fleet sum_up(std::vector<Host> hosts, Order order,
                           std::vector<std::string> refused = {});

}  // namespace ttmem::fleet
