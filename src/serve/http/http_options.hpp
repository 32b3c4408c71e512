// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ttmem::serve {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9488;   // 0: the system chooses; the log says which
  std::string token{};         // whoever asks must send it; empty: none
  bool without_token = false;  // beyond loopback also when there is none
  std::string assets{};        // a folder whose files go before those of the binary; empty: none
};

}  // namespace ttmem::serve
