// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_host.hpp"

#include <boost/url/authority_view.hpp>
#include <boost/url/grammar/ci_string.hpp>
#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>

#include "base/parse_number.hpp"

namespace ttmem::serve {

namespace urls = boost::urls;

namespace {

bool same(std::string_view a, std::string_view b) { return urls::grammar::ci_is_equal(a, b); }

}  // namespace

bool HostRule::allows(std::string_view host) const {
  if (any) return true;
  const auto asked = urls::parse_authority(host);
  if (!asked || asked->has_userinfo()) return false;
  if (asked->has_port() && parse_number<std::uint16_t>(asked->port()) != port) return false;
  const auto v4 = urls::parse_ipv4_address(address);
  const auto v6 = urls::parse_ipv6_address(address);
  const bool bound_to_all = (v4 && v4->is_unspecified()) || (v6 && v6->is_unspecified());
  switch (asked->host_type()) {
    // Compares the escaped name, because no allowed name needs an escape.
    case urls::host_type::name:
      return same(asked->encoded_host(), "localhost") ||
             (!name.empty() && (same(asked->encoded_host(), name) ||
                                same(asked->encoded_host(), name.substr(0, name.find('.')))));
    case urls::host_type::ipv4: {
      const urls::ipv4_address ip = asked->host_ipv4_address();
      return bound_to_all || ip == urls::ipv4_address::loopback() || (v4 && ip == *v4);
    }
    case urls::host_type::ipv6: {
      const urls::ipv6_address ip = asked->host_ipv6_address();
      return bound_to_all || ip == urls::ipv6_address::loopback() || (v6 && ip == *v6);
    }
    default:
      return false;
  }
}

}  // namespace ttmem::serve
