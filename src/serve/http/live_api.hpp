// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "serve/http/changes.hpp"
#include "serve/http/http_handler.hpp"
#include "serve/http/http_host.hpp"
#include "serve/http/http_message.hpp"
#include "serve/http/http_options.hpp"
#include "serve/observatory/observatory.hpp"

namespace ttmem::serve {

// The page and the API of `ttmem serve`: what an observatory sees. One thread; the observatory must
// outlive it.
class LiveApi {
 public:
  LiveApi(Observatory& observatory, const HttpOptions& options);
  LiveApi(const LiveApi&) = delete;
  LiveApi& operator=(const LiveApi&) = delete;

  [[nodiscard]] HttpResponse answer(const HttpRequest& request, const HostRule& hosts) const {
    return handle(request, hosts, sources_);
  }

 private:
  [[nodiscard]] const Changes& changes();

  Observatory& observatory_;
  HttpSources sources_;
  Changes changes_;
  std::uint64_t changes_time_ns_ = 0;  // of the snapshot that they have
};

}  // namespace ttmem::serve
