// SPDX-License-Identifier: Apache-2.0
#include "server/socket_server.hpp"

namespace ttmem::server {

SocketServer::SocketServer(boost::asio::io_context& loop, Observatory& observatory,
                           const ServeOptions& options)
    : loop_(loop), observatory_(observatory), options_(options) {}

Result<void> SocketServer::start() { return {}; }
void SocketServer::stop() {}

}  // namespace ttmem::server
