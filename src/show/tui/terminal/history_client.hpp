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

// Returns the address of the server on this machine. `environment` is TTMEM_HTTP, "host:port" or
// ":port"; nullptr means the default address. Returns nullopt if the value names another machine or
// is not an address.
[[nodiscard]] std::optional<remote::Address> server_address(const char* environment);

// Returns the samples in the body of a history answer, in the order of time. Leaves out invalid
// samples.
[[nodiscard]] std::vector<ChartSample> parse_history(std::string_view json);

// Asks the server for the last `seconds` of a device. Returns no samples if there is no server, if
// the server does not answer in time, or if the answer is invalid. Charts then start empty.
[[nodiscard]] std::vector<ChartSample> fetch_history(const remote::Address& server,
                                                     const model::DeviceName& device,
                                                     std::uint32_t seconds,
                                                     const remote::ClientOptions& client);

}  // namespace ttmem::tui
