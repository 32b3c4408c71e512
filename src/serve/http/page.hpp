// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/http/http_message.hpp"

namespace ttmem::serve {

// Returns the response with a file of the page, or nullopt if there is no such file. `folder` is
// the folder of --assets, or empty. Files in the folder replace the files in the binary, are read
// at each request, and are sent unchanged. Files from the binary are compressed for clients that
// accept gzip. Returns status 304 to a client that already has the file.
[[nodiscard]] std::optional<HttpResponse> page_response(const HttpRequest& request,
                                                        std::string_view path,
                                                        const std::string& folder);

}  // namespace ttmem::serve
