// SPDX-License-Identifier: Apache-2.0
//
// What a running `ttmem serve` remembers of a device, so that charts do not start empty.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tui/screen/chart_history.hpp"

namespace ttmem::tui {

// Where a server may be. Only this machine is ever asked.
struct ServerAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9488;
};

// TTMEM_HTTP as "host:port" or ":port"; unset: the default. None when it names another machine or
// is no address: then nobody is asked.
[[nodiscard]] std::optional<ServerAddress> server_address(const char* environment);

// The samples in the body of a history answer, in the order of time. What is not understood is
// left out; any text is tolerated.
[[nodiscard]] std::vector<Sample> parse_history(std::string_view json);

// Asks the server for the last `seconds` of a device. Empty when there is no server, when it does
// not answer in time, or when the answer is of no use: charts then start empty, as without one.
[[nodiscard]] std::vector<Sample> fetch_history(const ServerAddress& server, std::uint32_t device,
                                                std::uint32_t seconds,
                                                std::chrono::milliseconds budget);

}  // namespace ttmem::tui
