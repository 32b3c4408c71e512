// SPDX-License-Identifier: Apache-2.0
//
// The target of a request as values. An Error names the parameter and what would be right. Pure,
// safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::serve {

struct RequestTarget {
  std::string path;                          // decoded
  std::map<std::string, std::string> query;  // decoded
  std::optional<std::string> authority;      // of a target with a scheme
};

// "/api/v1/history?device=0&seconds=600". Fails when an escape is broken or a name comes twice.
[[nodiscard]] Result<RequestTarget> parse_target(std::string_view text);

// Fails when the query has another name than these.
[[nodiscard]] Result<void> check_names(const RequestTarget& target,
                                       const std::vector<std::string>& names);

// The value of a parameter; empty when it was not given. Fails when it is not valid.
[[nodiscard]] Result<std::vector<model::DeviceName>> devices_in(
    const RequestTarget& target);  // "0-3"
// One device: "0", "0x1f00a", "0:wormhole_b0".
[[nodiscard]] Result<std::optional<model::DeviceName>> device_in(const RequestTarget& target,
                                                                 const std::string& name);
[[nodiscard]] Result<std::vector<Kind>> kinds_in(const RequestTarget& target);  // "dram,l1"
[[nodiscard]] Result<std::optional<std::uint64_t>> number_in(const RequestTarget& target,
                                                             const std::string& name,
                                                             std::uint64_t most,
                                                             std::uint64_t least = 1);

}  // namespace ttmem::serve
