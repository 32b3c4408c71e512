// SPDX-License-Identifier: Apache-2.0
#include "read/remote/resolver.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace ttmem::remote {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

using Lookup = std::function<void()>;

// Runs each lookup as soon as a thread is free. Never destroyed, because its threads may outlive
// main().
class Lookups {
 public:
  void add(Lookup lookup) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(lookup));
    if (threads_ == kMaxThreads) return;
    try {
      std::thread([this] { work(); }).detach();
      ++threads_;
      // No new thread is available. If another thread is running, that thread takes the lookup.
    } catch (const std::exception&) {
    }
  }

 private:
  static constexpr int kMaxThreads = 128;

  void work() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      const Lookup lookup = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      lookup();
      lock.lock();
    }
    --threads_;
  }

  std::mutex mutex_;
  std::deque<Lookup> waiting_;
  int threads_ = 0;
};

Lookups& lookups() {
  static auto* const one = new Lookups;
  return *one;
}

Endpoints look_up(const std::string& host, std::uint16_t port, error_code& error) {
  Endpoints found;
  asio::io_context unused(1);
  asio::ip::tcp::resolver resolver(unused);
  const auto flags = asio::ip::tcp::resolver::numeric_service;
  for (const auto& entry : resolver.resolve(host, std::to_string(port), flags, error)) {
    found.push_back(entry.endpoint());
  }
  return found;
}

}  // namespace

void resolve(const std::shared_ptr<asio::io_context>& loop, const std::string& host,
             std::uint16_t port, Resolved done) {
  error_code not_literal;
  const auto address = asio::ip::make_address(host, not_literal);
  if (!not_literal) {
    asio::post(*loop, [done = std::move(done), address, port] {
      done({}, {asio::ip::tcp::endpoint(address, port)});
    });
    return;
  }
  lookups().add([loop, host, port, done = std::move(done)] {
    error_code error;
    const Endpoints found = look_up(host, port, error);
    asio::post(*loop, [done, error, found] { done(error, found); });
  });
}

}  // namespace ttmem::remote
