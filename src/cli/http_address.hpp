// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "serve/http/http_options.hpp"

namespace ttmem::cli {

// Parses the value of --http: "127.0.0.1:9488", "[::1]:9488". `usual_port` is the port in the
// example of an error message.
[[nodiscard]] Result<serve::HttpOptions> parse_http(const std::string& text,
                                                    std::uint16_t usual_port);

}  // namespace ttmem::cli
