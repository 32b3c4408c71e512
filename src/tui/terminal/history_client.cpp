// SPDX-License-Identifier: Apache-2.0
#include "tui/terminal/history_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <nlohmann/json.hpp>

#include "base/parse_number.hpp"

namespace ttmem::tui {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Failure = boost::system::error_code;

constexpr std::size_t kLargestAnswer = 4 * 1024 * 1024;
constexpr std::size_t kMostPoints = ChartHistory::kMostSamples;

// One GET: connect, send, receive, until the answer is complete or a step fails. Must outlive the
// run of the event loop.
class Exchange {
 public:
  Exchange(asio::io_context& loop, const std::string& host, const std::string& target)
      : socket_(loop), request_(http::verb::get, target, 10) {  // HTTP/1.0: no chunks
    request_.set(http::field::host, host);
    request_.set(http::field::accept, "application/json");
    request_.set(http::field::connection, "close");
    parser_.body_limit(kLargestAnswer);
  }

  void start(const asio::ip::tcp::endpoint& server) {
    socket_.async_connect(server, [this](Failure failure) {
      if (failure) return;
      http::async_write(socket_, request_, [this](Failure unsent, std::size_t) {
        if (unsent) return;
        http::async_read(socket_, buffer_, parser_,
                         [this](Failure unread, std::size_t) { whole_ = !unread; });
      });
    });
  }

  // The body of a good answer, once the event loop has nothing left to do.
  [[nodiscard]] const std::string* body() const {
    const bool good = whole_ && parser_.get().result() == http::status::ok;
    return good ? &parser_.get().body() : nullptr;
  }

 private:
  asio::ip::tcp::socket socket_;
  http::request<http::empty_body> request_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  bool whole_ = false;
};

model::Bytes bytes_of(const nlohmann::json& point, const char* key) {
  const auto found = point.find(key);
  if (found == point.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

}  // namespace

std::optional<ServerAddress> server_address(const char* environment) {
  ServerAddress server;
  const std::string_view text = environment == nullptr ? "" : environment;
  if (text.empty()) return server;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host == "localhost" || host.empty()) host = "127.0.0.1";
  if (!host.starts_with("127.")) return std::nullopt;
  server.port = parse_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
  if (server.port == 0) return std::nullopt;
  server.host = host;
  return server;
}

std::vector<Sample> parse_history(std::string_view json) {
  const nlohmann::json answer = nlohmann::json::parse(json, nullptr, false);
  std::vector<Sample> samples;
  if (!answer.is_object() || answer.value("schema", nlohmann::json()) != "ttmem.history.v1") {
    return samples;
  }
  const auto points = answer.find("points");
  if (points == answer.end() || !points->is_array()) return samples;
  for (const nlohmann::json& point : *points) {
    const model::Bytes time = point.is_object() ? bytes_of(point, "time_unix_ns") : std::nullopt;
    if (!time || samples.size() >= kMostPoints) continue;
    samples.push_back({*time, bytes_of(point, "dram_bytes"), bytes_of(point, "l1_used_bytes"),
                       bytes_of(point, "l1_bytes"), bytes_of(point, "l1_small_bytes"),
                       bytes_of(point, "cb_bytes"), bytes_of(point, "kernels_bytes")});
  }
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return a.time_unix_ns < b.time_unix_ns;
  });
  return samples;
}

std::vector<Sample> fetch_history(const ServerAddress& server, const model::DeviceName& device,
                                  std::uint32_t seconds, std::chrono::milliseconds budget) try {
  Failure failure;
  const auto address = asio::ip::make_address_v4(server.host, failure);
  if (failure) return {};
  const std::string name =
      device.uid ? fmt::format("{:#x}", *device.uid) : fmt::format("{}", device.number);
  asio::io_context loop(1);
  Exchange exchange(loop, fmt::format("{}:{}", server.host, server.port),
                    fmt::format("/api/v1/history?device={}&seconds={}", name, seconds));
  exchange.start({address, server.port});
  loop.run_for(budget);
  const std::string* body = exchange.body();
  return body == nullptr ? std::vector<Sample>() : parse_history(*body);
} catch (const std::exception&) {  // no descriptors, no memory
  return {};
}

}  // namespace ttmem::tui
