// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>

#include "base/result.hpp"
#include "server/observatory.hpp"
#include "server/serve.hpp"

namespace ttmem::server {

// The socket of the wire protocol. One thread: that of the event loop.
class SocketServer {
 public:
  SocketServer(boost::asio::io_context& loop, Observatory& observatory,
               const ServeOptions& options);

  // Fails when another server has the socket, or it cannot be made; the message names it, the
  // reason and the next step.
  [[nodiscard]] Result<void> start();
  void stop();

 private:
  boost::asio::io_context& loop_;
  Observatory& observatory_;
  const ServeOptions& options_;
};

}  // namespace ttmem::server
