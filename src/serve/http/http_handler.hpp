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

// The sources of the answers. A returned reference is valid until any of the functions is called.
struct HttpSources {
  std::function<const model::Snapshot&()> snapshot;
  // Returns the last pass, which is at most a second old. Allocations and programs may be missing.
  std::function<const model::Snapshot&()> figures;
  std::function<std::string()> metrics;
  std::function<bool()> up;
  const History* history = nullptr;
  const Postmortems* postmortems = nullptr;
  std::function<const Changes&()> changes;  // changes up to the last pass
  std::string token{};                      // token that requests must have; empty: none
  std::string assets{};                     // folder of --assets; empty: none
};

// Returns the response, which says what is wrong with an invalid request. Never fails. As
// thread-safe as the sources.
[[nodiscard]] HttpResponse handle(const HttpRequest& request, const HostRule& hosts,
                                  const HttpSources& sources);

}  // namespace ttmem::serve
