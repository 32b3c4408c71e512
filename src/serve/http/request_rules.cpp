// SPDX-License-Identifier: Apache-2.0
#include "serve/http/request_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>

namespace ttmem::serve {

std::optional<HttpResponse> refused_host(const HttpRequest& request, const RequestTarget& target,
                                         const HostRule& rule) {
  if (request.hosts.size() > 1) {
    return error_response(400, "the request has more than one Host header; send one");
  }
  // Accepts HTTP/1.0 without a Host header, because HTTP/1.0 does not need this header and no
  // browser uses HTTP/1.0.
  if (request.hosts.empty() && request.version >= 11) {
    return error_response(400, "the request has no Host header; HTTP/1.1 requires one");
  }
  const bool allowed = (request.hosts.empty() || rule.allows(request.hosts.front())) &&
                       (!target.authority || rule.allows(*target.authority));
  if (allowed) return std::nullopt;
  return error_response(403, fmt::format("the Host of the request is not this server's; ask "
                                         "for localhost:{0} or its address with port {0}",
                                         rule.port));
}

std::optional<HttpResponse> refused_token(const HttpRequest& request, std::string_view token) {
  if (token.empty()) return std::nullopt;
  if (request.has_more_authorizations) {
    return error_response(400, "the request has more than one Authorization header; send one");
  }
  constexpr std::string_view scheme = "Bearer ";
  std::string_view sent = request.authorization;
  const bool has_scheme = boost::beast::iequals(sent.substr(0, scheme.size()), scheme);
  if (has_scheme)
    sent.remove_prefix(std::min(sent.find_first_not_of(' ', scheme.size()), sent.size()));
  unsigned differs = has_scheme && sent.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char other = sent.empty() ? '\0' : sent[i % sent.size()];
    differs |= static_cast<unsigned char>(token[i] ^ other);
  }
  if (differs == 0) return std::nullopt;
  HttpResponse response = error_response(
      401,
      "this server wants its token: send `Authorization: Bearer TOKEN`; the commands of ttmem "
      "do with --token-file FILE");
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"ttmem\"");
  return response;
}

std::optional<HttpResponse> refused_form(const HttpRequest& request, std::string_view path) {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse response =
        error_response(405, fmt::format("{} answers GET and HEAD, not {}", path, request.method));
    response.allow = "GET, HEAD";
    return response;
  }
  if (request.has_body) return error_response(413, "requests must have no body; send none");
  return std::nullopt;
}

}  // namespace ttmem::serve
