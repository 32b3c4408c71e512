// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/socket/session.hpp"

namespace ttmem::serve {

// The socket of one client. Reads messages, passes whole messages to its Session and sends the
// answers. Used by one thread: the thread of the event loop.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  // Called once when the connection ends, but not after close(). The argument may be the last
  // reference to the connection, so the connection may be destroyed afterwards.
  using OnEnd = std::function<void(const std::shared_ptr<Connection>&)>;

  // `scratch` is the read buffer. All connections share the buffer, so that a thousand idle clients
  // need no memory of their own. The buffer has room for at least two messages.
  Connection(Socket socket, SessionContext& context, ConnectionId id, Peer peer,
             std::vector<std::byte>& scratch, OnEnd on_end);

  void start() { wait_to_read(); }
  void close();

  // Reads everything that the client has sent, up to the end of the connection. Stops after
  // kMaxRestBytes, because a child process of the client may still send over the connection.
  void read_rest();
  static constexpr std::size_t kMaxRestBytes = 8 << 20;

  [[nodiscard]] ConnectionId id() const { return session_.id(); }
  [[nodiscard]] const Peer& peer() const { return session_.peer(); }

 private:
  // The maximum size of answers that the client has not read. A connection with more is closed.
  static constexpr std::size_t kMaxUnreadBytes = 256 << 10;

  void wait_to_read();
  void wait_to_send();
  void read();
  enum class Got : std::uint8_t { end, nothing, some, full };  // full: the read buffer is full
  Got read_once();
  bool send();
  void end();

  Socket socket_;
  SessionContext& context_;
  Session session_;
  std::vector<std::byte>& scratch_;
  OnEnd on_end_;
  // The first part of a message that has not arrived completely.
  std::array<std::byte, wire::kMessageBytes> half_{};
  std::size_t half_size_ = 0;
  int turns_awake_ = 0;
  std::string answers_;
  bool waits_to_send_ = false;
};

}  // namespace ttmem::serve
