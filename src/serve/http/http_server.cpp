// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <exception>
#include <string>
#include <utility>

#include "show/web/assets.hpp"

namespace ttmem::serve {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{100};

Error cannot_listen(const HttpOptions& options, const std::string& reason,
                    const std::string& next_step) {
  return {fmt::format("cannot serve HTTP on {}:{}: {}; {}", options.address, options.port, reason,
                      next_step)};
}

HttpResponse too_many(const char* what) {
  HttpResponse response = error_response(
      503, fmt::format("too many {} at once; try again, or ask for one device", what));
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

HttpServer::HttpServer(boost::asio::io_context& loop, const HttpOptions& options, Answer answer)
    : options_(options),
      answer_(std::move(answer)),
      acceptor_(loop),
      retry_(loop),
      self_(std::make_shared<HttpServer*>(this)) {}

HttpServer::~HttpServer() {
  *self_ = nullptr;
  try {
    stop();
    workers_.stop();
    workers_.join();
  } catch (const std::exception& error) {
    spdlog::warn("HTTP did not shut down cleanly: {}", error.what());
  }
}

std::string HttpServer::url() const {
  const bool v6 = hosts_.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", v6 ? "[" : "", hosts_.address, v6 ? "]" : "",
                     hosts_.port);
}

Result<void> HttpServer::start() {
  error_code error;
  const std::string name = options_.address == "localhost" ? "127.0.0.1" : options_.address;
  const auto address = boost::asio::ip::make_address(name, error);
  if (error) {
    return cannot_listen(options_, "it is not an IP address",
                         fmt::format("try --http 127.0.0.1:{}", options_.port));
  }
  const bool open = !address.is_loopback();
  if (open && options_.token.empty() && !options_.without_token) {
    return cannot_listen(options_, "anyone who reaches it could read what every process holds",
                         "give it a token with --token-file FILE, or allow it to everybody with "
                         "--insecure-no-token");
  }
  const tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol(), error);
  // Sets close-on-exec, so that a browser that the server starts does not keep the port open.
  if (!error) ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) {
    return cannot_listen(options_, error.message(),
                         "stop what uses it, or choose another with --http ADDRESS:PORT");
  }
  const tcp::endpoint bound = acceptor_.local_endpoint();
  hosts_ = {.address = bound.address().to_string(),
            .port = bound.port(),
            .name = open ? boost::asio::ip::host_name(error) : std::string(),
            .any = !options_.token.empty()};
  spdlog::info("HTTP on {}", url());
  if (!web::missing().empty()) spdlog::warn("the page has no {}", web::missing());
  if (open && options_.token.empty()) {
    spdlog::warn(
        "HTTP on {} is open to the network, without encryption or token: anyone who reaches it can "
        "read what every process holds",
        url());
  } else if (open) {
    spdlog::info(
        "HTTP on {} is open to the network: whoever has the token can read it; it is not "
        "encrypted, a proxy can do that",
        url());
  }
  accept();
  return {};
}

void HttpServer::stop() {
  error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
  for (const auto& weak : connections_) {
    if (const auto connection = weak.lock()) connection->close();
  }
}

void HttpServer::accept() {
  if (accepting_ || !acceptor_.is_open()) return;
  accepting_ = true;
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    accepting_ = false;
    if (error == boost::asio::error::operation_aborted) return;
    // Tries again later, because most errors are temporary. For example, the process has no free
    // descriptor; the connection then waits in the queue.
    if (error) return try_again_soon();
    add(std::move(socket));
    accept_when_there_is_room();
  });
}

void HttpServer::try_again_soon() {
  retry_.expires_after(kAcceptPause);
  retry_.async_wait([this](const error_code& cancelled) {
    if (!cancelled) accept_when_there_is_room();
  });
}

void HttpServer::add(tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const auto connection = std::make_shared<HttpConnection>(
      std::move(socket), workers_, [this](const HttpRequest& request) { return answer(request); },
      [self = self_] {
        if (*self != nullptr) (*self)->accept();
      });
  connections_.push_back(connection);
  connection->start();
}

void HttpServer::accept_when_there_is_room() {
  connections_.remove_if([](const auto& weak) { return weak.expired(); });
  if (connections_.size() < kMaxConnections) return accept();
  // Does not call accept() here. The closed connection calls accept() when it is destroyed.
  if (const auto connection = longest_waiting()) {
    connection->close();
  } else {
    try_again_soon();
  }
}

// Returns the connection to close in favour of a new connection. Returns null if no connection may
// be closed.
std::shared_ptr<HttpConnection> HttpServer::longest_waiting() const {
  using State = HttpConnection::State;
  const auto now = std::chrono::steady_clock::now();
  std::shared_ptr<HttpConnection> chosen;
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (!connection || connection->state() == State::answering) continue;
    const auto waited = now - connection->since();
    if (connection->state() == State::reading && waited < kMinWait) continue;
    if (connection->state() == State::writing && waited < kMinRead) continue;
    const auto key = [](const HttpConnection& c) { return std::pair(c.state(), c.since()); };
    if (!chosen || key(*connection) < key(*chosen)) chosen = connection;
  }
  return chosen;
}

bool HttpServer::is_overloaded() const {
  if (connections_.size() <= kMaxAnswers) return false;
  const auto busy = std::count_if(connections_.begin(), connections_.end(), [](const auto& weak) {
    const auto connection = weak.lock();
    return connection && connection->state() >= HttpConnection::State::writing;
  });
  return static_cast<std::size_t>(busy) > kMaxAnswers;
}

HttpResponse HttpServer::answer(const HttpRequest& request) {
  const bool overloaded = request.target != "/healthz" && is_overloaded();
  HttpResponse response = overloaded ? too_many("answers") : answer_(request, hosts_);
  if (response.later && tickets_.use_count() > kMaxLongAnswers) {
    response = too_many("long answers");
  } else if (response.later) {
    response.ticket = tickets_;
  }
  ++responses_[response.status];
  return response;
}

}  // namespace ttmem::serve
