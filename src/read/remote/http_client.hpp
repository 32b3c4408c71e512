// SPDX-License-Identifier: Apache-2.0
// An HTTP client for many servers at the same time. Each question has its own timeout, and no
// answer is trusted.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "read/remote/address.hpp"
#include "read/remote/fault.hpp"

namespace ttmem::remote {

struct ClientOptions {
  std::string token{};  // sent as `Authorization: Bearer`; empty: none
  std::chrono::milliseconds timeout{2000};
};

// The maximum sizes of documents without and with lists. Larger answers are rejected unread.
inline constexpr std::size_t kMaxFigureBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxListBytes = std::size_t{64} << 20;

// Asks many servers at the same time, each on a connection of its own. Verifies the certificate and
// host name of https:// servers with the system's certificates, or with SSL_CERT_FILE. Use it in
// one thread; only stop() may be called from any thread.
class HttpClient {
 public:
  // Receives the body of a successful answer, or the fault.
  using Done = std::function<void(Answer<std::string>)>;

  explicit HttpClient(ClientOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Asks for `target`, such as "/api/v1/snapshot". run() calls done() once. If the request cannot
  // be started, get() calls done() itself.
  void get(const Address& server, const std::string& target, std::size_t max_bytes,
           const Done& done);

  // Runs until every question is answered or has timed out, or until stop() is called.
  void run();
  // Makes run() return soon. May be called from any thread.
  void stop();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// Asks one question and waits for the answer.
[[nodiscard]] Answer<std::string> fetch(const Address& server, const std::string& target,
                                        std::size_t max_bytes, const ClientOptions& options);

}  // namespace ttmem::remote
