// SPDX-License-Identifier: Apache-2.0
//
// Lists of servers in the form that users write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/remote/address.hpp"

namespace ttmem::fleet {

// Returns the short name of a server: "node7", or "node7:9500" if the port is not 9488. Returns the
// URL if the server has no short name.
[[nodiscard]] std::string shown(const remote::Address& address);

// Parses a list such as "node7,node8:9500", in which blanks are allowed. An empty text is an empty
// list. Fails if a part is not an address. Pure.
[[nodiscard]] Result<std::vector<remote::Address>> parse_servers(std::string_view text);

// Parses lines of servers in the form of parse_servers(); text after a # is a comment. `name` is
// the name of the file, for the message.
[[nodiscard]] Result<std::vector<remote::Address>> parse_server_lines(std::string_view text,
                                                                      const std::string& name);
// Reads lines in the form of parse_server_lines() from a file, or from standard input if `path` is
// "-".
[[nodiscard]] Result<std::vector<remote::Address>> read_servers(const std::string& path);

// Removes repeated servers and keeps the order. The case of names does not matter. Pure.
[[nodiscard]] std::vector<remote::Address> each_once(std::vector<remote::Address> servers);

}  // namespace ttmem::fleet
