// SPDX-License-Identifier: Apache-2.0
//
// Makes the response to a request, without a socket.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "server/http/http_host.hpp"
#include "server/observatory/history.hpp"
#include "server/observatory/postmortem.hpp"

namespace ttmem::server {

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";
  unsigned version = 11;           // 10 or 11
  std::vector<std::string> hosts;  // each line `Host:`
  bool has_body = false;
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type;
  std::string body;   // also for HEAD, whose sender leaves it out
  std::string allow;  // the methods, when the status is 405
  // When set, it makes the body, which takes long. Safe from any thread.
  std::function<std::string()> later;
  std::shared_ptr<void> ticket;  // released when the response has been sent
};

// Where the answers come from. What the functions return is valid until one is called again.
struct HttpSources {
  std::function<const model::Snapshot&()> snapshot;
  std::function<const model::Snapshot&()> figures;  // its allocations and programs may be missing
  std::function<std::string()> metrics;
  std::function<bool()> up;
  const History* history = nullptr;
  const Postmortems* postmortems = nullptr;
};

// Never fails: the response says what is wrong with the request. As thread-safe as the sources.
[[nodiscard]] HttpResponse handle(const HttpRequest& request, const HostRule& hosts,
                                  const HttpSources& sources);

// The response with this status and {"error": ...}.
[[nodiscard]] HttpResponse error_response(unsigned status, std::string_view message);

}  // namespace ttmem::server
