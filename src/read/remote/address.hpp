// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ttmem::remote {

// The address of a `ttmem serve`, of a proxy in front of a `ttmem serve`, or of a Prometheus
// server.
struct Address {
  bool tls = false;
  std::string host;  // a host name or an IP address, IPv6 without brackets
  std::uint16_t port = 9488;
  // The beginning of all paths, such as "/node7" behind a proxy for several servers; may be empty.
  std::string prefix{};

  [[nodiscard]] std::string authority() const;  // "node7:9488", "[::1]:9488"
  [[nodiscard]] std::string url() const;        // "http://node7:9488"

  friend bool operator==(const Address&, const Address&) = default;
};

// Parses "node7", "node7:9488", "http://node7:9488" or "https://proxy.example/node7". If the text
// has no port, the port is 443 for https:// and `port` otherwise. Fails on any other text; the
// message shows valid addresses.
[[nodiscard]] Result<Address> parse_address(std::string_view text, std::uint16_t port = 9488);

}  // namespace ttmem::remote
