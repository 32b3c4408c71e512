// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>

#include "base/result.hpp"
#include "server/observatory.hpp"
#include "server/serve.hpp"

namespace ttmem::server {

// The HTTP API on one address. One thread: that of the event loop.
class HttpServer {
 public:
  HttpServer(boost::asio::io_context& loop, Observatory& observatory, const ServeOptions& options);

  // Fails when the address cannot be had; the message names it, the reason and the next step.
  [[nodiscard]] Result<void> start();
  void stop();

 private:
  boost::asio::io_context& loop_;
  Observatory& observatory_;
  const ServeOptions& options_;
};

}  // namespace ttmem::server
