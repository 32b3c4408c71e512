// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/servers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

namespace ttmem::fleet {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
constexpr std::string_view kBetween = ", \t\r\n";

std::string in_small_letters(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

std::string shown(const remote::Address& address) {
  if (address.tls || !address.prefix.empty()) return address.url();
  const bool usual = address.port == remote::Address().port;
  return usual && address.host.find(':') == std::string::npos ? address.host : address.authority();
}

Result<std::vector<remote::Address>> parse_servers(std::string_view text) {
  std::vector<remote::Address> servers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    if (end > at) {
      Result<remote::Address> address = remote::parse_address(text.substr(at, end - at));
      if (!address) return address.error();
      servers.push_back(std::move(*address));
    }
    at = end + 1;
  }
  return servers;
}

Result<std::vector<remote::Address>> parse_server_lines(std::string_view text,
                                                        const std::string& name) {
  std::vector<remote::Address> all;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Result<std::vector<remote::Address>> servers = parse_servers(line.substr(0, line.find('#')));
    if (!servers) return Error{fmt::format("{}:{}: {}", name, number, servers.error().message)};
    all.insert(all.end(), servers->begin(), servers->end());
  }
  return all;
}

Result<std::vector<remote::Address>> read_servers(const std::string& path) {
  const bool standard_input = path == "-";
  const auto refused = [&](const std::string& reason) {
    return Error{fmt::format("cannot read the servers from {}: {}; it has one a line",
                             standard_input ? "standard input" : path, reason)};
  };
  errno = 0;
  std::ifstream file(standard_input ? "/dev/stdin" : path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return refused(errno != 0 ? std::strerror(errno) : "it fails");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) return refused("it has more than 4 MiB");
  return parse_server_lines(text, path);
}

std::vector<remote::Address> each_once(std::vector<remote::Address> servers) {
  std::set<std::string> seen;
  std::erase_if(servers, [&](remote::Address server) {
    server.host = in_small_letters(server.host);
    return !seen.insert(server.url()).second;
  });
  return servers;
}

}  // namespace ttmem::fleet
