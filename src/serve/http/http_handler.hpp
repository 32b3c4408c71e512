// SPDX-License-Identifier: Apache-2.0
//
// Makes the response to a request, without a socket.
#pragma once

#include <cstdint>

#include "serve/http/changes.hpp"
#include "serve/http/http_host.hpp"
#include "serve/http/http_message.hpp"
#include "serve/http/http_options.hpp"
#include "serve/observatory/observed_machine.hpp"

namespace ttmem::serve {

// Answers requests for the page and the API of `ttmem serve`. Used by one thread. The machine must
// outlive the handler.
class HttpHandler {
 public:
  // `start_unix_us` is passed to the constructor of Changes.
  HttpHandler(ObservedMachine& machine, const HttpOptions& options, std::uint64_t start_unix_us)
      : machine_(machine), options_(options), changes_(start_unix_us) {}

  // Never fails. The response to an invalid request says what is wrong with it.
  [[nodiscard]] HttpResponse answer(const HttpRequest& request, const HostRule& hosts);

  [[nodiscard]] ObservedMachine& machine() { return machine_; }
  [[nodiscard]] const HttpOptions& options() const { return options_; }
  // Returns the changes up to and including the machine's last pass. Valid until the next call.
  [[nodiscard]] const Changes& changes();

 private:
  ObservedMachine& machine_;
  HttpOptions options_;
  Changes changes_;
  std::uint64_t changes_time_ns_ = 0;  // time of the snapshot in `changes_`
};

}  // namespace ttmem::serve
