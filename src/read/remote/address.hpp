// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ttmem::remote {

// Where a `ttmem serve` answers, or a proxy before it, or a Prometheus.
struct Address {
  bool tls = false;
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 9488;
  std::string prefix{};  // of all paths: "/node7" behind a proxy that serves several; empty: none

  [[nodiscard]] std::string authority() const;  // "node7:9488", "[::1]:9488"
  [[nodiscard]] std::string url() const;        // "http://node7:9488"

  friend bool operator==(const Address&, const Address&) = default;
};

// "node7", "node7:9488", "http://node7:9488", "https://proxy.example/node7". Without a port it is
// `port`, with https:// 443. Fails on anything else: the message says what is right.
[[nodiscard]] Result<Address> parse_address(std::string_view text, std::uint16_t port = 9488);

}  // namespace ttmem::remote
