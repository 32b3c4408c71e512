// SPDX-License-Identifier: Apache-2.0
#include "tui/terminal/history_client.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/parse_number.hpp"
#include "base/unique_fd.hpp"

namespace ttmem::tui {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargestAnswer = 4 * 1024 * 1024;
constexpr std::size_t kMostPoints = ChartHistory::kMostSamples;

// Waits until the socket is ready. False when the time is over.
bool ready(int fd, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd item{fd, events, 0};
    const int count = ::poll(&item, 1, static_cast<int>(left.count()));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

UniqueFd connected(const ServerAddress& server, Clock::time_point end) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port);
  if (::inet_pton(AF_INET, server.host.c_str(), &address.sin_addr) != 1) return {};
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return {};
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), where, sizeof address) == 0) return fd;
  if (errno != EINPROGRESS || !ready(fd.get(), POLLOUT, end)) return {};
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? std::move(fd) : UniqueFd();
}

bool send_all(int fd, std::string_view text, Clock::time_point end) {
  while (!text.empty()) {
    if (!ready(fd, POLLOUT, end)) return false;
    const ssize_t count = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Whether all that the head of the answer promises has come. Without a length the end of the
// connection says so.
bool is_whole(const std::string& answer) {
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos) return false;
  std::string head = answer.substr(0, body);
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view key = "\r\ncontent-length:";
  const std::size_t at = head.find(key);
  if (at == std::string::npos) return false;
  const std::size_t digits = std::min(head.find_first_not_of(' ', at + key.size()), head.size());
  std::size_t length = 0;
  const char* const end = head.data() + head.size();
  if (std::from_chars(head.data() + digits, end, length).ec != std::errc()) return false;
  return answer.size() - body - 4 >= length;
}

// All that the server says; empty when it has not said all in time.
std::string receive_all(int fd, Clock::time_point end) {
  std::string answer;
  std::string chunk(65536, '\0');
  while (answer.size() < kLargestAnswer) {
    if (!ready(fd, POLLIN, end)) return {};
    const ssize_t count = ::recv(fd, chunk.data(), chunk.size(), 0);
    if (count == 0) return answer;
    if (count < 0 && errno != EINTR && errno != EAGAIN) return {};
    if (count > 0) answer.append(chunk, 0, static_cast<std::size_t>(count));
    if (is_whole(answer)) return answer;
  }
  return {};
}

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

std::vector<Sample> fetch_history(const ServerAddress& server, std::uint32_t device,
                                  std::uint32_t seconds, std::chrono::milliseconds budget) {
  const Clock::time_point end = Clock::now() + budget;
  const UniqueFd fd = connected(server, end);
  // HTTP/1.0: the answer comes in one piece, not in chunks.
  const std::string request = fmt::format(
      "GET /api/v1/history?device={}&seconds={} HTTP/1.0\r\nHost: {}:{}\r\n"
      "Accept: application/json\r\nConnection: close\r\n\r\n",
      device, seconds, server.host, server.port);
  if (!fd || !send_all(fd.get(), request, end)) return {};
  const std::string answer = receive_all(fd.get(), end);
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos || body < 13) return {};
  const bool good = answer.starts_with("HTTP/1.") && answer.compare(8, 5, " 200 ") == 0;
  if (!good) return {};
  return parse_history(std::string_view(answer).substr(body + 4));
}

}  // namespace ttmem::tui
