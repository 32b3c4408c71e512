// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_host.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/parse_number.hpp"

namespace ttmem::server {
namespace {

// The bytes of a literal address, 4 or 16 of them; none when it is something else.
std::optional<std::string> address_of(std::string_view text) {
  const std::string name(text);
  std::array<char, sizeof(in6_addr)> bytes{};
  if (name.find('\0') != std::string::npos) return std::nullopt;
  if (::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1) return std::string(bytes.data(), 4);
  if (::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1) {
    return std::string(bytes.data(), bytes.size());
  }
  return std::nullopt;
}

bool is_localhost(std::string_view name) {
  constexpr std::string_view localhost = "localhost";
  return std::equal(name.begin(), name.end(), localhost.begin(), localhost.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

struct Parts {
  std::string_view name;  // without brackets
  std::string_view port;  // without the colon
  bool in_brackets = false;
};

std::optional<Parts> split(std::string_view host) {
  Parts parts;
  std::string_view rest;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    parts.in_brackets = true;
    parts.name = host.substr(1, end - 1);
    rest = host.substr(end + 1);
  } else {
    const std::size_t colon = host.find(':');
    parts.name = host.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : host.substr(colon);
  }
  if (rest.empty()) return parts;
  if (rest.size() < 2 || rest[0] != ':') return std::nullopt;
  parts.port = rest.substr(1);
  return parts;
}

}  // namespace

bool HostRule::allows(std::string_view host) const {
  const std::optional<Parts> parts = split(host);
  if (!parts) return false;
  if (!parts->port.empty()) {
    if (parse_number<std::uint16_t>(parts->port) != port) return false;
  }
  if (!parts->in_brackets && is_localhost(parts->name)) return true;
  const std::optional<std::string> asked = address_of(parts->name);
  if (!asked || (asked->size() == sizeof(in6_addr)) != parts->in_brackets) return false;
  const std::optional<std::string> bound = address_of(address);
  const bool bound_to_all =
      bound && std::all_of(bound->begin(), bound->end(), [](char byte) { return byte == 0; });
  return bound_to_all || asked == bound || asked == address_of("127.0.0.1") ||
         asked == address_of("::1");
}

}  // namespace ttmem::server
