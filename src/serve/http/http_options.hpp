// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ttmem::serve {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9488;   // 0: the system chooses the port, and the log shows it
  std::string token{};         // token that requests must have; empty: none
  bool without_token = false;  // true: other machines may connect without a token
  std::string directory{};     // directory of the segments that the server reads; empty: none
  std::string assets{};        // folder whose files replace the files in the binary; empty: none
};

}  // namespace ttmem::serve
