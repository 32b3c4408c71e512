// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ttmem::remote {

using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
using Resolved = std::function<void(const boost::system::error_code&, const Endpoints&)>;

// Looks up a host name, and calls done(error, endpoints) in the event loop. A literal address needs
// no lookup. The system's lookup cannot be cancelled and may take many seconds. So the lookup runs
// in a detached thread, and a slow name server delays neither other lookups nor the end of the
// program. The thread keeps the loop object alive. If the loop has stopped before the lookup ends,
// done() is never called.
void resolve(const std::shared_ptr<boost::asio::io_context>& loop, const std::string& host,
             std::uint16_t port, Resolved done);

}  // namespace ttmem::remote
