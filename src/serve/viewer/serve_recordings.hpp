// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "serve/http/http_options.hpp"
#include "serve/viewer/document.hpp"

namespace ttmem::viewer {

struct ViewServerOptions {
  serve::HttpOptions http{};
  bool any_port = false;  // use another port if the port of `http` is taken
  // Called with the address of the page, as soon as a browser can open the page.
  std::function<void(const std::string& url)> ready{};
};

// Serves the page over these recordings until SIGINT or SIGTERM. Fails if the server cannot listen.
[[nodiscard]] Result<void> serve_recordings(std::vector<ShownRecording> runs, std::string document,
                                            const ViewServerOptions& options);

}  // namespace ttmem::viewer
