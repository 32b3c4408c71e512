// SPDX-License-Identifier: Apache-2.0
#include "cli/http_address.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "base/parse_number.hpp"

namespace ttmem::cli {

Result<serve::HttpOptions> parse_http(const std::string& text, std::uint16_t usual_port) {
  const auto colon = text.rfind(':');
  const auto port = parse_number<std::uint16_t>(std::string_view(text).substr(colon + 1));
  if (colon == std::string::npos || colon == 0 || !port) {
    return Error{
        fmt::format("--http {} is not ADDRESS:PORT; try --http 127.0.0.1:{}", text, usual_port)};
  }
  std::string address = text.substr(0, colon);
  if (address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  serve::HttpOptions options;
  options.address = address;
  options.port = *port;
  return options;
}

}  // namespace ttmem::cli
