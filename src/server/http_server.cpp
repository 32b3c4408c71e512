// SPDX-License-Identifier: Apache-2.0
#include "server/http_server.hpp"

namespace ttmem::server {

HttpServer::HttpServer(boost::asio::io_context& loop, Observatory& observatory,
                       const ServeOptions& options)
    : loop_(loop), observatory_(observatory), options_(options) {}

Result<void> HttpServer::start() { return {}; }
void HttpServer::stop() {}

}  // namespace ttmem::server
