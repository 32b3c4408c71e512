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

// Returns the address of the server on this machine. `environment` is the value of TTMEM_HTTP:
// "host:port" or ":port". If `environment` is nullptr or empty, returns the default address.
// Returns nullopt if the value names another machine or is not an address.
[[nodiscard]] std::optional<remote::Address> server_address(const char* environment);

// A server's answer with the history of a device.
struct ServerHistory {
  std::vector<ChartSample> samples;  // in the order of time
  // The directory_id() of the directory that the server reads. Empty if the answer lacks it, as
  // that of an older server does.
  std::string directory_id;
  bool answered = false;  // false: no server, or a late or invalid answer
};

// Returns the history in `json`, the server's answer. Leaves out invalid samples.
[[nodiscard]] ServerHistory parse_history(std::string_view json);

// Asks the server for the samples of a device in the last `seconds`.
[[nodiscard]] ServerHistory fetch_history(const remote::Address& server,
                                          const model::DeviceName& device, std::uint32_t seconds,
                                          const remote::ClientOptions& client);

}  // namespace ttmem::tui
