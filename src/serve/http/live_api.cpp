// SPDX-License-Identifier: Apache-2.0
#include "serve/http/live_api.hpp"

#include <chrono>

namespace ttmem::serve {
namespace {

std::uint64_t unix_microseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

LiveApi::LiveApi(Observatory& observatory, const HttpOptions& options)
    : observatory_(observatory), changes_(unix_microseconds()) {
  sources_.snapshot = [this]() -> const model::Snapshot& { return observatory_.snapshot(); };
  sources_.figures = [this]() -> const model::Snapshot& { return observatory_.last(); };
  sources_.metrics = [this] { return observatory_.metrics(); };
  sources_.up = [this] { return observatory_.up(); };
  sources_.history = &observatory_.history();
  sources_.postmortems = &observatory_.postmortems();
  sources_.changes = [this]() -> const Changes& { return changes(); };
  sources_.token = options.token;
  sources_.assets = options.assets;
}

const Changes& LiveApi::changes() {
  const model::Snapshot& last = observatory_.last();
  if (last.time_unix_ns != changes_time_ns_) {
    changes_time_ns_ = last.time_unix_ns;
    changes_.update(last, {observatory_.changes(), observatory_.postmortems().total()});
  }
  return changes_;
}

}  // namespace ttmem::serve
