// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem::serve {

// Which names a request may have as its Host. A web page can make a browser send requests to any
// name that its owner points at this machine (DNS rebinding); that name is then the Host, and is
// refused.
struct HostRule {
  std::string address = "127.0.0.1";  // as bound, in the system's own spelling
  std::uint16_t port = 0;
  std::string name{};  // of this machine, where others than itself may ask; empty: none
  bool any = false;    // whoever asks has a token, which a page of the web has not

  // `host` is `NAME` or `NAME:PORT`, IPv6 addresses in brackets. Accepts the bound address, that of
  // this machine's loopback, `localhost` and `name`, whole or its first part; every literal address
  // when bound to all; each with the right port or none.
  [[nodiscard]] bool allows(std::string_view host) const;
};

}  // namespace ttmem::serve
