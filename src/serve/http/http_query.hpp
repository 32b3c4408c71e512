// SPDX-License-Identifier: Apache-2.0
//
// The target of a request as values. An Error names the parameter and its valid values. Pure, safe
// from any thread.
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
  std::optional<std::string> authority;      // host and port of a target with a scheme
};

// Parses for example "/api/v1/history?device=0&seconds=600". Fails if an escape is broken or a name
// occurs twice.
[[nodiscard]] Result<RequestTarget> parse_target(std::string_view text);

// Fails if the query has a name that is not in `names`.
[[nodiscard]] Result<void> check_names(const RequestTarget& target,
                                       const std::vector<std::string>& names);

// Each function returns the value of one parameter, or an empty value if the parameter is missing.
// The function fails if the value is not valid.
[[nodiscard]] Result<std::vector<model::DeviceName>> devices_in(
    const RequestTarget& target);  // "0-3"
// Reads one device, for example "0", "0x1f00a" or "0:wormhole_b0".
[[nodiscard]] Result<std::optional<model::DeviceName>> device_in(const RequestTarget& target,
                                                                 const std::string& name);
[[nodiscard]] Result<std::vector<Kind>> kinds_in(const RequestTarget& target);  // "dram,l1"
[[nodiscard]] Result<std::optional<std::uint64_t>> number_in(const RequestTarget& target,
                                                             const std::string& name,
                                                             std::uint64_t most,
                                                             std::uint64_t least = 1);

}  // namespace ttmem::serve
