// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem::server {

// Which hosts a request may be meant for. A page of the web can make a browser ask for any name
// that its owner points at this machine (DNS rebinding); the name then stands in the request, and
// is none of ours.
struct HostRule {
  std::string address = "127.0.0.1";  // as bound, in the system's own spelling
  std::uint16_t port = 0;

  // `host` is `NAME` or `NAME:PORT`, IPv6 addresses in brackets. Accepts the bound address, that of
  // this machine's loopback and `localhost`; every literal address when bound to all; each with the
  // right port or none.
  [[nodiscard]] bool allows(std::string_view host) const;
};

}  // namespace ttmem::server
