// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem::serve {

// The names that a request may have in its Host header. With DNS rebinding, a web page makes a
// browser send requests to a name that the page's owner points at this machine. The Host header
// then has that name, and the server refuses the request.
struct HostRule {
  std::string address = "127.0.0.1";  // bound address, as the system writes it
  std::uint16_t port = 0;
  std::string name{};  // name of this machine, if other machines may connect; empty: none
  // True if all names are allowed, because requests need a token, which a web page does not have.
  bool any = false;

  // Returns true if a request may have `host`, which is `NAME` or `NAME:PORT`, with IPv6 addresses
  // in brackets. Allowed are the bound address, the loopback address, `localhost`, and `name` or
  // its first label. A server that is bound to all addresses allows every literal address. The port
  // must be right or missing.
  [[nodiscard]] bool allows(std::string_view host) const;
};

}  // namespace ttmem::serve
