// SPDX-License-Identifier: Apache-2.0
//
// Rules for every request, independent of its path. Pure, safe from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "serve/http/http_host.hpp"
#include "serve/http/http_message.hpp"
#include "serve/http/http_query.hpp"

namespace ttmem::serve {

// Returns nullopt if the request is addressed to this server, otherwise the error response.
[[nodiscard]] std::optional<HttpResponse> refused_host(const HttpRequest& request,
                                                       const RequestTarget& target,
                                                       const HostRule& rule);

// Returns nullopt if the request is a GET or HEAD without a body, otherwise the error response. The
// server must have an answer for `path`.
[[nodiscard]] std::optional<HttpResponse> refused_form(const HttpRequest& request,
                                                       std::string_view path);

// Returns the error response to a request without the token or with several tokens. Returns nullopt
// if the request has the token, or if `token` is empty. The time of the comparison does not depend
// on the token in the request.
[[nodiscard]] std::optional<HttpResponse> refused_token(const HttpRequest& request,
                                                        std::string_view token);

}  // namespace ttmem::serve
