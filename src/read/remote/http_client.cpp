// SPDX-License-Identifier: Apache-2.0
#include "read/remote/http_client.hpp"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "read/remote/json_value.hpp"
#include "read/remote/resolver.hpp"

namespace ttmem::remote {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

struct HttpClient::Shared {
  ClientOptions options;
  std::shared_ptr<asio::io_context> loop = std::make_shared<asio::io_context>(1);
  std::optional<asio::ssl::context> tls{};  // made for the first https:// address

  explicit Shared(ClientOptions an_options) : options(std::move(an_options)) {}

  asio::ssl::context& tls_context() {
    if (!tls) {
      tls.emplace(asio::ssl::context::tls_client);
      error_code ignored;  // after an error there are no certificates, and no server is trusted
      tls->set_default_verify_paths(ignored);
      tls->set_verify_mode(asio::ssl::verify_peer, ignored);
    }
    return *tls;
  }
};

namespace {

constexpr const char* kCheckAddress =
    "check the address and the port (9488 unless `ttmem serve --http` says another)";

Fault unreachable(const error_code& error) {
  Fault fault{Fault::Kind::unreachable, error.message(), kCheckAddress};
  if (error == asio::error::connection_refused) {
    fault.reason = "connection refused";
    fault.next_step =
        "start `ttmem serve` there; beyond loopback it needs --http ADDRESS:9488 --token-file FILE";
  } else if (error.category() == asio::error::get_netdb_category()) {
    fault.reason = "there is no host of that name";
    fault.next_step = "check the name";
  } else if (error.category() == asio::error::get_ssl_category()) {
    fault.reason = "TLS: " + error.message();
    fault.next_step =
        "check its certificate; SSL_CERT_FILE names another file of trusted certificates";
  }
  return fault;
}

// Describes an answer that is too large or was cut off.
Fault incomplete(const error_code& error, std::size_t max_bytes) {
  if (error == http::error::body_limit) {
    return too_large(fmt::format("{} MiB", max_bytes >> 20));
  }
  if (error.category() == make_error_code(http::error::bad_version).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message) {
    return {Fault::Kind::not_ttmem, "what answers there does not speak HTTP: " + error.message(),
            kCheckAddress};
  }
  return {Fault::Kind::unreachable, "the connection was closed before the answer was complete",
          "try again"};
}

// The maximum size of an error message. A longer body does not come from ttmem.
constexpr std::size_t kMaxErrorBytes = std::size_t{64} << 10;

// Describes an answer whose status is not 200.
Fault refusal(const http::response<http::string_body>& answer, bool with_token) {
  const unsigned status = answer.result_int();
  const bool readable = answer.body().size() <= kMaxErrorBytes;
  const std::string message =
      readable ? text_of(Json::parse(answer.body(), nullptr, false), "error") : std::string();
  const std::string reason =
      message.empty() ? fmt::format("it answers {} {}", status, std::string(answer.reason()))
                      : message;
  if (status == 401 && !with_token) {
    return {Fault::Kind::unauthorized, "it wants a token",
            "name the file that has it with --token-file or TTMEM_TOKEN_FILE"};
  }
  if (status == 401) {
    return {Fault::Kind::unauthorized, "it does not take this token",
            "ask who runs that server for its token"};
  }
  if (status == 403) {
    return {Fault::Kind::unauthorized, reason,
            "name the host by its address, or let it have a "
            "token: then it answers to every name"};
  }
  if (status / 100 == 3) {
    return {Fault::Kind::not_ttmem,
            fmt::format("it answers {} and points to {}", status,
                        std::string(answer[http::field::location])),
            "name that address, if it is the one you want"};
  }
  if (message.empty()) return {Fault::Kind::not_ttmem, reason, kCheckAddress};
  return {Fault::Kind::failed, message, "see the log of that server"};
}

// One question on a connection of its own. Lives until its timer and its operations are finished.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  using Plain = beast::tcp_stream;
  using Tls = beast::ssl_stream<beast::tcp_stream>;

  Exchange(asio::io_context& loop, const ClientOptions& options, const Address& server,
           const std::string& target, std::size_t max_bytes, HttpClient::Done done)
      : timer_(loop),
        plain_(loop),
        request_(http::verb::get, server.prefix + target, 11),
        max_bytes_(max_bytes),
        with_token_(!options.token.empty()),
        done_(std::move(done)) {
    request_.set(http::field::host, server.authority());
    request_.set(http::field::user_agent, "ttmem");
    request_.set(http::field::accept, "application/json");
    request_.set(http::field::connection, "close");
    if (with_token_) request_.set(http::field::authorization, "Bearer " + options.token);
    parser_.body_limit(max_bytes);
  }

  // Makes the connection use TLS. Without this call the connection is not encrypted.
  void use_tls(asio::ssl::context& context, const std::string& host) {
    tls_.emplace(std::move(plain_), context);
    tls_->set_verify_callback(asio::ssl::host_name_verification(host));
    SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
  }

  void start(std::chrono::milliseconds timeout) {
    timer_.expires_after(timeout);
    timer_.async_wait([self = shared_from_this(), timeout](const error_code& cancelled) {
      if (cancelled) return;
      self->finish(Fault{
          Fault::Kind::timeout,
          fmt::format("no answer within {:g} s", std::chrono::duration<double>(timeout).count()),
          "it is slow, stopped or behind a firewall; --timeout waits longer"});
    });
  }

  void connect(const error_code& error, const Endpoints& endpoints) {
    if (error) return finish(unreachable(error));
    if (!done_) return;  // the timeout came before the lookup was finished
    socket().async_connect(endpoints,
                           [self = shared_from_this()](const error_code& failed, const auto&) {
                             if (failed) return self->finish(unreachable(failed));
                             self->tls_ ? self->shake_hands() : self->send(self->plain_);
                           });
  }

  void finish(Answer<std::string> answer) {
    if (!done_) return;
    timer_.cancel();
    socket().close();
    std::exchange(done_, nullptr)(std::move(answer));
  }

 private:
  beast::tcp_stream& socket() { return tls_ ? tls_->next_layer() : plain_; }

  void shake_hands() {
    tls_->async_handshake(asio::ssl::stream_base::client,
                          [self = shared_from_this()](const error_code& error) {
                            if (error) return self->finish(unreachable(error));
                            self->send(*self->tls_);
                          });
  }

  template <typename Stream>
  void send(Stream& stream) {
    http::async_write(stream, request_,
                      [self = shared_from_this(), &stream](const error_code& error, std::size_t) {
                        if (error) return self->finish(unreachable(error));
                        self->receive(stream);
                      });
  }

  template <typename Stream>
  void receive(Stream& stream) {
    http::async_read(stream, buffer_, parser_,
                     [self = shared_from_this()](const error_code& error, std::size_t) {
                       if (error) return self->finish(incomplete(error, self->max_bytes_));
                       auto& answer = self->parser_.get();
                       if (answer.result() != http::status::ok) {
                         return self->finish(refusal(answer, self->with_token_));
                       }
                       self->finish(std::move(answer.body()));
                     });
  }

  asio::steady_timer timer_;
  Plain plain_;
  std::optional<Tls> tls_;
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  std::size_t max_bytes_;
  bool with_token_;
  HttpClient::Done done_;  // null after it was called
};

}  // namespace

HttpClient::HttpClient(ClientOptions options)
    : shared_(std::make_shared<Shared>(std::move(options))) {}

HttpClient::~HttpClient() = default;

void HttpClient::get(const Address& server, const std::string& target, std::size_t max_bytes,
                     const Done& done) try {
  const auto exchange =
      std::make_shared<Exchange>(*shared_->loop, shared_->options, server, target, max_bytes, done);
  if (server.tls) exchange->use_tls(shared_->tls_context(), server.host);
  exchange->start(shared_->options.timeout);
  resolve(shared_->loop, server.host, server.port,
          [exchange](const error_code& error, const Endpoints& endpoints) {
            exchange->connect(error, endpoints);
          });
} catch (const std::exception& error) {  // out of memory, or no free descriptors
  done(Fault{Fault::Kind::failed, error.what(), "try again, with fewer hosts at a time"});
}

void HttpClient::run() {
  shared_->loop->restart();
  shared_->loop->run();
}

void HttpClient::stop() { shared_->loop->stop(); }

Answer<std::string> fetch(const Address& server, const std::string& target, std::size_t max_bytes,
                          const ClientOptions& options) {
  HttpClient client(options);
  std::optional<Answer<std::string>> answer;
  client.get(server, target, max_bytes, [&](Answer<std::string> got) {
    answer.emplace(std::move(got));
    client.stop();
  });
  if (!answer) client.run();
  if (answer) return std::move(*answer);
  return Fault{Fault::Kind::failed, "the question was given up", "try again"};
}

}  // namespace ttmem::remote
