// SPDX-License-Identifier: Apache-2.0
//
// Tests the client of `ttmem serve` against servers that misbehave.
#include "show/tui/terminal/history_client.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "base/unique_fd.hpp"

namespace ttmem::tui {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kBudget{300};
// The time in which an answer must arrive. The time is long, because the machine may be slow.
constexpr milliseconds kPatience{5000};

const std::string kBody = R"({"schema":"ttmem.history.v1","points":[{"time_unix_ns":5}]})";

std::string answer(const std::string& head, const std::string& body = kBody) {
  return "HTTP/1.1 200 OK\r\n" + head + "\r\n" + body;
}

// A server for one client on its own port. The server waits for `pause` before each piece of its
// answer. After the last piece it closes the connection or, if `hang_up` is false, waits until the
// client closes the connection.
class Server {
 public:
  explicit Server(std::vector<std::string> pieces, bool hang_up = true, milliseconds pause = {})
      : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* where = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listening_.get(), where, size), 0);
    EXPECT_EQ(::listen(listening_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listening_.get(), where, &size), 0);
    address_.port = ntohs(address.sin_port);
    thread_ = std::thread([=, this] { serve(pieces, hang_up, pause); });
  }
  ~Server() { thread_.join(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] const remote::Address& address() const { return address_; }
  // Returns the received request. Valid after fetch_history() has returned.
  [[nodiscard]] const std::string& request() const { return request_; }

 private:
  void serve(const std::vector<std::string>& pieces, bool hang_up, milliseconds pause) {
    const UniqueFd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char text[4096];
    while (request_.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = ::recv(client.get(), text, sizeof text, 0);
      if (count <= 0) return;
      request_.append(text, static_cast<std::size_t>(count));
    }
    for (const std::string& piece : pieces) {
      std::this_thread::sleep_for(pause);
      if (::send(client.get(), piece.data(), piece.size(), MSG_NOSIGNAL) < 0) return;
    }
    while (!hang_up && ::recv(client.get(), text, sizeof text, 0) > 0) {
    }
  }

  UniqueFd listening_;
  remote::Address address_{.host = "127.0.0.1"};
  std::string request_;
  std::thread thread_;  // declared last, because it uses the other members
};

std::size_t samples_of(const Server& server, milliseconds budget = kPatience) {
  return fetch_history(server.address(), 3, 60, {.timeout = budget}).samples.size();
}

std::string length(std::size_t bytes) { return fmt::format("Content-Length: {}\r\n", bytes); }

TEST(HistoryClient, RequestsADeviceAndReadsAnswersWithAndWithoutALength) {
  {
    const Server server({answer(length(kBody.size()))}, false);
    EXPECT_EQ(samples_of(server), 1u);
    EXPECT_EQ(server.request().find("GET /api/v1/history?device=3&seconds=60 HTTP/1.1\r\n"), 0u);
    EXPECT_NE(server.request().find(fmt::format("Host: 127.0.0.1:{}\r\n", server.address().port)),
              std::string::npos);
  }
  EXPECT_EQ(samples_of(Server({answer("")})), 1u);
}

TEST(HistoryClient, JoinsTheFragmentsOfAnAnswer) {
  const std::string whole = answer(length(kBody.size()));
  const Server server({whole.substr(0, 9), whole.substr(9, 40), whole.substr(49)}, false,
                      milliseconds(5));
  EXPECT_EQ(samples_of(server), 1u);
}

TEST(HistoryClient, ASilentOrSlowServerCostsAtMostTheBudget) {
  const std::string whole = answer(length(kBody.size()));
  const std::vector<std::string> drops(60, "x");
  for (const auto& [pieces, pause] : {std::pair(std::vector<std::string>{}, milliseconds(0)),
                                      std::pair(std::vector{whole.substr(0, 30)}, milliseconds(0)),
                                      std::pair(drops, milliseconds(20))}) {
    const Server server(pieces, false, pause);
    const auto start = Clock::now();
    EXPECT_EQ(samples_of(server, kBudget), 0u);
    EXPECT_LT(Clock::now() - start, kBudget + milliseconds(700));
  }
}

TEST(HistoryClient, AnUnusableAnswerGivesNoHistory) {
  for (const std::string& text :
       {std::string(), std::string("\xff\x00garbage\r\n\r\n", 13), std::string("SSH-2.0-x\r\n"),
        answer(length(kBody.size() + 1)),  // the body is one byte shorter than this length
        answer("Content-Length: many\r\n"), std::string(100000, 'x'), answer("", "{"),
        "HTTP/1.1 404 Not Found\r\n" + length(kBody.size()) + "\r\n" + kBody}) {
    EXPECT_EQ(samples_of(Server({text})), 0u) << text.substr(0, 80);
  }
}

TEST(HistoryClient, StopsReadingAnAnswerWithoutEnd) {
  const std::vector<std::string> flood(8, std::string(1 << 20, ' '));
  std::vector<std::string> pieces{answer("", "")};
  pieces.insert(pieces.end(), flood.begin(), flood.end());
  EXPECT_EQ(samples_of(Server(pieces)), 0u);
}

}  // namespace
}  // namespace ttmem::tui
