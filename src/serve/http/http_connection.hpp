// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/file_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "serve/http/http_message.hpp"

namespace ttmem::serve {

inline constexpr std::uint32_t kMaxHeaderBytes = 8192;

using HttpParser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

// Returns the request whose header `parser` has read.
[[nodiscard]] HttpRequest request_of(const HttpParser& parser);
// Returns the response to bytes that are not a valid request. Returns nullopt if the client has
// closed the connection or was too slow.
[[nodiscard]] std::optional<HttpResponse> response_to(const boost::system::error_code& error);

// The connection of one client. Reads and answers one request after the other, until the client
// leaves, asks to close, sends an invalid request or is too slow. Lives while an operation is
// pending. Used by one thread: the thread of the event loop.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Answer = std::function<HttpResponse(const HttpRequest&)>;
  // The destructor calls `done`. `workers` compute responses that take long; the caller must end
  // `workers` before the event loop.
  HttpConnection(boost::asio::ip::tcp::socket socket, boost::asio::thread_pool& workers,
                 Answer answer, std::function<void()> done);
  ~HttpConnection() { done_(); }

  void start() { read(); }
  // Closes the connection at once, even if an operation is pending.
  void close() { stream_.close(); }

  // The states, ordered by how much a client loses if the server closes the connection. A client
  // loses least in the first state.
  enum class State : std::uint8_t {
    lingering,  // waits for the client to close the connection; all requests are answered
    reading,    // waits for a whole request
    writing,    // waits for the client to take the answer
    answering,
  };
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] std::chrono::steady_clock::time_point since() const { return since_; }

 private:
  void enter(State state);
  void read();
  void on_read(const boost::system::error_code& error);
  struct Form {
    bool head = false;
    bool keep_alive = false;
    unsigned version = 11;
  };
  void complete(HttpResponse response, Form form);
  void write(HttpResponse response, Form form);
  template <typename Body>
  void send(boost::beast::http::response<Body>& message, std::uint64_t bytes, Form form);
  void on_write(const boost::system::error_code& error, bool keep_alive);
  void linger();

  boost::beast::tcp_stream stream_;
  boost::asio::thread_pool& workers_;
  Answer answer_;
  std::function<void()> done_;
  boost::beast::flat_buffer buffer_;
  std::optional<HttpParser> parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  boost::beast::http::response<boost::beast::http::file_body> file_response_;
  std::shared_ptr<void> ticket_;  // ticket of the response that is being sent
  State state_ = State::reading;
  std::chrono::steady_clock::time_point since_{};  // time when state_ was entered
  std::size_t lingered_bytes_ = 0;
};

}  // namespace ttmem::serve
