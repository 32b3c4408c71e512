// SPDX-License-Identifier: Apache-2.0
//
// HTTP for those who ask servers: many at a time, each with its time, none of them trusted.
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
  std::string token{};                      // sent as `Authorization: Bearer`; empty: none
  std::chrono::milliseconds timeout{2000};  // for one question, from its start to its last byte
  int give_up_fd = -1;  // fetch() gives up as soon as this can be read; -1: never
};

// Larger answers are refused before they are read: a document without lists, and with them.
inline constexpr std::size_t kMaxFigureBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxListBytes = std::size_t{64} << 20;

// Asks servers, all at the same time, each on a connection of its own. https:// is verified by the
// system's certificates (or those of SSL_CERT_FILE), the name included. One thread, but for stop().
class HttpClient {
 public:
  // The body of a good answer, or why there is none.
  using Done = std::function<void(Answer<std::string>)>;

  explicit HttpClient(ClientOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Asks for `target`, "/api/v1/snapshot". run() calls done(), once.
  void get(const Address& server, const std::string& target, std::size_t most_bytes,
           const Done& done);

  // Until every question has been answered or has run out of time, or stop() was called.
  void run();
  // Makes run() return soon. From any thread.
  void stop();
  // Makes run() return when `fd` can be read, and from now on only then or by stop(). `fd` stays
  // the caller's, who must keep it open for as long as there is an HttpClient.
  void stop_when_readable(int fd);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// One question: asks, and waits for the answer. Given up, it fails.
[[nodiscard]] Answer<std::string> fetch(const Address& server, const std::string& target,
                                        std::size_t most_bytes, const ClientOptions& options);

}  // namespace ttmem::remote
