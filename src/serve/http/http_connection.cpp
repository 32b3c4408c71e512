// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_connection.hpp"

#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

namespace ttmem::serve {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::seconds kReadTime{10};
// A client must read an answer within kWriteTime, plus one second for each kSlowestBytesPerSecond
// bytes. Otherwise the server closes the connection, which makes room for another client.
constexpr std::chrono::seconds kWriteTime{30};
constexpr std::uint64_t kSlowestBytesPerSecond = 64 << 10;
constexpr std::chrono::seconds kLingerTime{2};
constexpr std::size_t kMaxLingerBytes = 1 << 20;
// The maximum size of the read buffer: room for the header of one request, and for bytes that the
// client sent ahead.
constexpr std::size_t kMaxBufferBytes = 4 * std::size_t{kMaxHeaderBytes};

template <typename Body>
void set_header(const HttpResponse& response, http::response<Body>& message) {
  message = {};
  message.result(response.status);
  message.set(http::field::server, "ttmem");
  message.set(http::field::content_type, response.content_type);
  message.set(http::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) message.set(name, value);
  if (!response.allow.empty()) message.set(http::field::allow, response.allow);
}

beast::error_code open_body(UniqueFd& file, http::file_body::value_type& body) {
  beast::file_posix opened;
  opened.native_handle(file.release());
  beast::error_code error;
  opened.seek(0, error);
  if (!error) body.reset(std::move(opened), error);
  return error;
}

}  // namespace

HttpRequest request_of(const HttpParser& parser) {
  const auto& message = parser.get();
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.version = message.version();
  const auto [first, last] = message.equal_range(http::field::host);
  for (auto it = first; it != last; ++it) request.hosts.emplace_back(it->value());
  request.has_body = !parser.is_done();
  request.authorization = std::string(message[http::field::authorization]);
  request.has_more_authorizations = message.count(http::field::authorization) > 1;
  request.accept_encoding = std::string(message[http::field::accept_encoding]);
  request.if_none_match = std::string(message[http::field::if_none_match]);
  return request;
}

std::optional<HttpResponse> response_to(const boost::system::error_code& error) {
  const bool of_http = error.category() == make_error_code(http::error::bad_target).category();
  if (!of_http || error == http::error::end_of_stream || error == http::error::partial_message) {
    return std::nullopt;
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return error_response(431, "the header is longer than 8 KiB; send a shorter one");
  }
  return error_response(400, "this is not an HTTP request: " + error.message());
}

HttpConnection::HttpConnection(boost::asio::ip::tcp::socket socket,
                               boost::asio::thread_pool& workers, Answer answer,
                               std::function<void()> done)
    : stream_(std::move(socket)),
      workers_(workers),
      answer_(std::move(answer)),
      done_(std::move(done)),
      buffer_(kMaxBufferBytes) {}

void HttpConnection::enter(State state) {
  state_ = state;
  since_ = std::chrono::steady_clock::now();
}

void HttpConnection::read() {
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  enter(State::reading);
  stream_.expires_after(kReadTime);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                            self->on_read(error);
                          });
}

void HttpConnection::on_read(const boost::system::error_code& error) {
  enter(State::answering);
  if (error) {
    if (auto response = response_to(error)) write(std::move(*response), {});
    return;
  }
  const HttpRequest request = request_of(*parser_);
  // Closes the connection after a request with a body. The body is not read, so the next bytes
  // cannot be parsed as a request.
  const bool keep_alive = parser_->keep_alive() && !request.has_body;
  const Form form{request.method == "HEAD", keep_alive, request.version};
  HttpResponse response = answer_(request);
  if (response.later) return complete(std::move(response), form);
  write(std::move(response), form);
}

// Lets a worker compute the response, and then sends the response from the event loop. The worker
// does not access the connection.
void HttpConnection::complete(HttpResponse response, Form form) {
  boost::asio::post(workers_, [self = shared_from_this(), loop = stream_.get_executor(),
                               response = std::move(response), form]() mutable {
    HttpResponse made = std::exchange(response.later, nullptr)();
    made.ticket = std::move(response.ticket);
    boost::asio::post(loop, [self = std::move(self), made = std::move(made), form]() mutable {
      self->write(std::move(made), form);
    });
  });
}

void HttpConnection::write(HttpResponse response, Form form) {
  ticket_ = std::move(response.ticket);
  http::file_body::value_type file;
  if (response.file) {
    if (const beast::error_code error = open_body(*response.file, file)) {
      response = error_response(500, "cannot read the answer: " + error.message());
    }
  }
  const std::uint64_t bytes = file.is_open() ? file.size() : response.body.size();
  if (file.is_open() && !form.head) {
    set_header(response, file_response_);
    file_response_.content_length(bytes);
    file_response_.body() = std::move(file);
    return send(file_response_, bytes, form);
  }
  set_header(response, response_);
  if (response.status != 304) response_.content_length(bytes);
  if (!form.head) response_.body() = std::move(response.body);
  send(response_, bytes, form);
}

template <typename Body>
void HttpConnection::send(http::response<Body>& message, std::uint64_t bytes, Form form) {
  message.version(form.version);
  message.keep_alive(form.keep_alive);
  enter(State::writing);
  stream_.expires_after(kWriteTime + std::chrono::seconds(bytes / kSlowestBytesPerSecond));
  http::async_write(stream_, message,
                    [self = shared_from_this(), form](const beast::error_code& error, std::size_t) {
                      self->on_write(error, form.keep_alive);
                    });
}

void HttpConnection::on_write(const boost::system::error_code& error, bool keep_alive) {
  response_ = {};
  file_response_ = {};
  ticket_.reset();
  if (error) return;
  if (keep_alive) return read();
  boost::system::error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kLingerTime);
  enter(State::lingering);
  linger();
}

// Reads and drops the remaining bytes of the client, within limits. If a connection is closed with
// unread bytes, Linux resets it, and the client may then lose the response.
void HttpConnection::linger() {
  buffer_.clear();
  stream_.async_read_some(
      buffer_.prepare(kMaxHeaderBytes),
      [self = shared_from_this()](const beast::error_code& error, std::size_t bytes) {
        self->lingered_bytes_ += bytes;
        if (error || self->lingered_bytes_ > kMaxLingerBytes) return;
        self->linger();
      });
}

}  // namespace ttmem::serve
