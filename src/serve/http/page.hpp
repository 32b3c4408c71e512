// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/http/http_message.hpp"

namespace ttmem::serve {

// The response with a file of the page; none when there is no such file. `folder` is that of
// --assets: its files go before those in the binary, are read each time and are sent as they are;
// empty: none. Compressed for clients that accept gzip, 304 for those that have it already.
[[nodiscard]] std::optional<HttpResponse> page_response(const HttpRequest& request,
                                                        std::string_view path,
                                                        const std::string& folder);

}  // namespace ttmem::serve
