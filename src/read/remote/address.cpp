// SPDX-License-Identifier: Apache-2.0
#include "read/remote/address.hpp"

#include <fmt/format.h>

#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/parse_number.hpp"

namespace ttmem::remote {

namespace urls = boost::urls;

std::string Address::authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Address::url() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", authority(), prefix);
}

Result<Address> parse_address(std::string_view text, std::uint16_t port) {
  const Error wrong{
      fmt::format("{} is not the address of a server; write for example node7, "
                  "node7:{} or http://node7:{}",
                  text, port, port)};
  const bool has_scheme = text.find("://") != std::string_view::npos;
  const std::string whole = has_scheme ? std::string(text) : "http://" + std::string(text);
  const auto url = urls::parse_uri(whole);
  if (!url || (url->scheme() != "http" && url->scheme() != "https")) return wrong;
  if (url->encoded_host().empty() || url->has_userinfo()) return wrong;
  // A list of hosts is not one address.
  if (url->encoded_host().find(',') != std::string_view::npos) return wrong;
  if (url->has_query() || url->has_fragment()) return wrong;
  Address address;
  address.tls = url->scheme() == "https";
  address.host = url->host_type() == urls::host_type::ipv6 ? url->host_address() : url->host();
  address.port = address.tls ? std::uint16_t{443} : port;
  if (url->has_port()) {
    address.port = parse_number<std::uint16_t>(std::string_view(url->port())).value_or(0);
  }
  if (address.port == 0) return wrong;
  address.prefix = std::string(url->encoded_path());
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  return address;
}

}  // namespace ttmem::remote
