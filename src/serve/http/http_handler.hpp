// SPDX-License-Identifier: Apache-2.0
//
// Makes the response to a request, without a socket.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"
#include "serve/http/changes.hpp"
#include "serve/http/http_host.hpp"
#include "serve/http/http_message.hpp"
#include "serve/observatory/history.hpp"
#include "serve/observatory/postmortem.hpp"

namespace ttmem::serve {

// Where the answers come from. What the functions return is valid until one is called again.
struct HttpSources {
  std::function<const model::Snapshot&()> snapshot;
  // What the last pass found, at most a second old; its allocations and programs may be missing.
  std::function<const model::Snapshot&()> figures;
  std::function<std::string()> metrics;
  std::function<bool()> up;
  const History* history = nullptr;
  const Postmortems* postmortems = nullptr;
  std::function<const Changes&()> changes;  // up to that pass
  std::string token{};                      // to be sent by whoever asks; empty: none
  std::string assets{};                     // the folder of --assets; empty: none
};

// Never fails: the response says what is wrong with the request. As thread-safe as the sources.
[[nodiscard]] HttpResponse handle(const HttpRequest& request, const HostRule& hosts,
                                  const HttpSources& sources);

}  // namespace ttmem::serve
