// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.hpp"
#include "serve/observatory/observatory.hpp"
#include "serve/socket/client_registry.hpp"
#include "serve/socket/connection.hpp"
#include "serve/socket/event_log.hpp"
#include "serve/socket/listener.hpp"
#include "serve/socket/responder.hpp"
#include "serve/socket/session.hpp"
#include "serve/socket/socket_options.hpp"

namespace ttmem::serve {

// The socket of the wire protocol (docs/reference/server.md). Used by one thread: the thread of the
// event loop.
class SocketServer {
 public:
  // `events` gets a line per report, and may buffer lines until a flush. `observatory` and
  // `options` must outlive the server.
  SocketServer(boost::asio::io_context& loop, Observatory& observatory,
               const SocketOptions& options, std::shared_ptr<spdlog::logger> events);

  // Fails if another server uses the socket path, or if the socket cannot be created; the message
  // names the path, the reason and the next step. Removes the proxy segments that a killed server
  // left.
  [[nodiscard]] Result<void> start();

  // Ends all connections; removes the socket and the segments.
  void stop();

  [[nodiscard]] const SocketStatistics& statistics() const { return statistics_; }
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }

 private:
  using Protocol = boost::asio::local::stream_protocol;

  // One path where clients connect.
  struct Entrance {
    explicit Entrance(boost::asio::io_context& loop) : acceptor(loop), pause(loop) {}
    Listener listener;
    Protocol::acceptor acceptor;
    boost::asio::steady_timer pause;
  };

  [[nodiscard]] Result<void> listen();
  [[nodiscard]] Result<void> listen_at(const std::string& path, mode_t mode);
  void accept(Entrance& entrance);
  [[nodiscard]] boost::system::error_code accept_all(Entrance& entrance);
  void add(Protocol::socket socket);
  void read_rest(std::optional<pid_t> of_process);
  void accept_later(Entrance& entrance, const boost::system::error_code& error);

  boost::asio::io_context& loop_;
  const SocketOptions& options_;
  std::list<Entrance> entrances_;
  EventLog log_;
  Responder responder_;
  SocketStatistics statistics_;
  Complaints complaints_;
  ClientRegistry clients_;
  SessionContext context_;
  std::vector<std::byte> scratch_;
  ConnectionId next_id_ = 1;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
};

}  // namespace ttmem::serve
