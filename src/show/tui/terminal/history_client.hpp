// SPDX-License-Identifier: Apache-2.0
//
// Reads the history of a device from a running `ttmem serve`, so that charts do not start empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/model/device_name.hpp"
#include "read/remote/address.hpp"
#include "read/remote/http_client.hpp"
#include "show/tui/screen/chart_history.hpp"

namespace ttmem::tui {

// The server of this machine: TTMEM_HTTP as "host:port" or ":port"; unset: the default. None when
// it names another machine or is not an address: then no server is asked.
[[nodiscard]] std::optional<remote::Address> server_address(const char* environment);

// The samples in the body of a history answer, in the order of time. Anything that is not valid is
// left out.
[[nodiscard]] std::vector<ChartSample> parse_history(std::string_view json);

// Asks the server for the last `seconds` of a device. Empty when there is no server, when it
// does not answer in time, or when the answer is not valid: charts then start empty.
[[nodiscard]] std::vector<ChartSample> fetch_history(const remote::Address& server,
                                                     const model::DeviceName& device,
                                                     std::uint32_t seconds,
                                                     const remote::ClientOptions& client);

}  // namespace ttmem::tui
