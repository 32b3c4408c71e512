// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem::serve {

// The names that a request may have in its Host header. The rule is a defence against DNS
// rebinding. In this attack, the owner of a foreign web page lets the name of the page point at
// this machine, so that the page can send requests to this server. The requests then have the
// foreign name in the Host header, and the server refuses them.
struct HostRule {
  std::string address = "127.0.0.1";  // bound address, as the system writes it
  std::uint16_t port = 0;
  std::string name{};  // name of this machine, or empty if only this machine may connect
  // True if all names are allowed. Set if requests need a token, because a foreign page has no
  // token.
  bool any = false;

  // Returns true if a request may have `host`, which is `NAME` or `NAME:PORT`, with IPv6 addresses
  // in brackets. Allowed names are the bound address, the loopback address, `localhost`, `name`,
  // and the first label of `name`. A server that is bound to all addresses also allows every
  // literal address. If `host` has a port, the port must be equal to `port`.
  [[nodiscard]] bool allows(std::string_view host) const;
};

}  // namespace ttmem::serve
