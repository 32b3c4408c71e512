// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "serve/http/http_connection.hpp"
#include "serve/http/http_host.hpp"
#include "serve/http/http_message.hpp"
#include "serve/http/http_options.hpp"

namespace ttmem::serve {

// An HTTP server on one address. Used by one thread: the thread of the event loop. The loop must
// not run any more when the server is destroyed.
//
// Serves at most kMaxConnections clients at a time. To serve a further client, the server closes
// the connection of an existing client. The first of these rules that finds a client decides:
//
//   - a client whose requests are all answered, and whose connection is being closed;
//   - the client that has sent no complete request for the longest time, at least kMinWait;
//   - the client that has been reading its answer for the longest time, at least kMinRead.
//
// If no rule finds a client, the new client waits. At most kMaxAnswers requests are answered at a
// time. Other requests get 503, except requests for /healthz, which are always answered.
class HttpServer {
 public:
  static constexpr std::size_t kMaxConnections = 512;
  static constexpr std::size_t kMaxAnswers = 64;
  static constexpr std::chrono::milliseconds kMinWait{50};
  static constexpr std::chrono::milliseconds kMinRead{1000};
  // The maximum number of concurrent long answers. Each may take tens of MiB.
  static constexpr long kMaxLongAnswers = 4;

  // A function that returns the response to a request. The HostRule has the name and port of this
  // server.
  using Answer = std::function<HttpResponse(const HttpRequest&, const HostRule&)>;

  // `options` must outlive the server.
  HttpServer(boost::asio::io_context& loop, const HttpOptions& options, Answer answer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Fails if the server cannot listen; the message has the address, the reason and the next step.
  [[nodiscard]] Result<void> start();
  // Closes all connections at once. May be called if the server never started.
  void stop();

  // Valid after start().
  [[nodiscard]] std::uint16_t port() const { return hosts_.port; }
  [[nodiscard]] std::string url() const;  // ends with a slash

  // Returns the number of responses by status.
  [[nodiscard]] const std::map<unsigned, std::uint64_t>& responses() const { return responses_; }

 private:
  void accept();
  void add(boost::asio::ip::tcp::socket socket);
  void accept_when_there_is_room();
  [[nodiscard]] std::shared_ptr<HttpConnection> longest_waiting() const;
  [[nodiscard]] bool is_overloaded() const;
  void try_again_soon();
  [[nodiscard]] HttpResponse answer(const HttpRequest& request);

  const HttpOptions& options_;
  Answer answer_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  HostRule hosts_;
  std::list<std::weak_ptr<HttpConnection>> connections_;
  // A pointer to a pointer to this server. Connections share the inner pointer, because they may
  // outlive the server. The destructor of the server sets it to null.
  std::shared_ptr<HttpServer*> self_;
  bool accepting_ = false;
  boost::asio::thread_pool workers_{1};
  // The number of long answers is use_count() - 1: each long answer owns one reference, and the
  // server owns one more.
  std::shared_ptr<void> tickets_ = std::make_shared<int>();
  std::map<unsigned, std::uint64_t> responses_;  // by status
};

}  // namespace ttmem::serve
