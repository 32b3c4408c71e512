// SPDX-License-Identifier: Apache-2.0
//
// Lists of servers as people write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/remote/address.hpp"

namespace ttmem::fleet {

// What people call it: "node7", with another port than 9488 "node7:9500", else its URL.
[[nodiscard]] std::string shown(const remote::Address& address);

// "node7,node8:9500", also with blanks between them. An empty text has none. Fails on what is no
// address. Pure.
[[nodiscard]] Result<std::vector<remote::Address>> parse_servers(std::string_view text);

// The lines of a file, or of standard input ("-"): servers as above; what follows a # is a comment.
// `name` is that of the file, for the message.
[[nodiscard]] Result<std::vector<remote::Address>> parse_server_lines(std::string_view text,
                                                                      const std::string& name);
[[nodiscard]] Result<std::vector<remote::Address>> read_servers(const std::string& path);

// Each once, in their order. Names are the same in small and capital letters. Pure.
[[nodiscard]] std::vector<remote::Address> each_once(std::vector<remote::Address> servers);

}  // namespace ttmem::fleet
