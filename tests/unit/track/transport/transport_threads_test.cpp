// SPDX-License-Identifier: Apache-2.0
//
// Several threads make calls while the transport's own thread sends and resends messages to a
// server. The server is killed again and again. Under ThreadSanitizer this test shows that the
// threads do not race.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "support/device_calls.hpp"
#include "support/reported_account.hpp"
#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"
#include "track/tracker/spin_lock.hpp"
#include "track/transport/socket_transport.hpp"

namespace ttmem::transport {
namespace {

using fixtures::kGrid;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int kThreads = 4;
constexpr int kServers = 8;

// A server that listens once it is constructed and serves one client at a time. If the server reads
// too slowly, the client disconnects, connects again and resends.
class Server {
 public:
  explicit Server(const std::string& path) : path_(path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 4), 0);
  }
  ~Server() { ::unlink(path_.c_str()); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Reads messages until the condition holds. Returns false if the condition does not hold in time.
  template <typename Condition>
  bool read_until(Condition&& condition) {
    const auto deadline = steady_clock::now() + seconds(60);
    while (!condition(account_)) {
      pollfd wanted{client_ ? client_.get() : listener_.get(), POLLIN, 0};
      if (steady_clock::now() > deadline) return false;
      if (::poll(&wanted, 1, 20) <= 0) continue;
      if (!client_) {
        EXPECT_TRUE(account_.faults.empty()) << account_.faults.front();
        client_ = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        account_ = {};
        filled_ = 0;
      } else if (!read_some()) {
        client_.reset();
      }
    }
    return true;
  }
  [[nodiscard]] const ReportedAccount& account() const { return account_; }

 private:
  bool read_some() {
    const ssize_t got = ::read(client_.get(), buffer_ + filled_, sizeof buffer_ - filled_);
    if (got <= 0) return false;
    filled_ += static_cast<std::size_t>(got);
    std::size_t taken = 0;
    for (; filled_ - taken >= wire::kMessageBytes; taken += wire::kMessageBytes) {
      wire::Message message;
      std::memcpy(&message, buffer_ + taken, sizeof message);
      account_.take(message);
    }
    std::memmove(buffer_, buffer_ + taken, filled_ -= taken);
    return true;
  }

  std::string path_;
  UniqueFd listener_;
  UniqueFd client_;
  ReportedAccount account_;
  char buffer_[1 << 16];
  std::size_t filled_ = 0;
};

// A tracker with one lock and the transport, as the library uses it.
class Workload {
 public:
  explicit Workload(const std::string& path) {
    segment::SegmentWriter::Options options;
    options.in_memory = true;
    tracker_ = tracker::IdTracker::start(options).value();
    const std::lock_guard guard(lock_);
    transport_ = SocketTransport::start(tracker_->segment(), lock_,
                                        {{path}, true, [](auto, auto) noexcept {}});
    tracker_->set_observer(&transport_->observer());
  }

  template <typename Call>
  void with_tracker(Call&& call) {
    const std::lock_guard guard(lock_);
    call(*tracker_);
  }
  ReportedAccount truth() {
    const std::lock_guard guard(lock_);
    return ReportedAccount::truth(tracker_->segment());
  }
  bool end() {
    {
      const std::lock_guard guard(lock_);
      transport_->end();
    }
    return transport_->wait_until_ended(seconds(60));
  }

 private:
  tracker::SpinLock lock_;
  std::unique_ptr<tracker::IdTracker> tracker_;
  std::unique_ptr<SocketTransport> transport_;
};

void work(Workload& workload, std::uint64_t thread, const std::atomic<bool>& done) {
  for (std::uint64_t round = 0; !done.load(); ++round) {
    const auto device = static_cast<std::uint32_t>(round % 2);
    const std::uint64_t id = thread * 1000 + round % 500 + 1;
    workload.with_tracker([&](tracker::IdTracker& tracker) {
      ttmem_buffer buffer{};
      buffer.struct_size = sizeof buffer;
      buffer.id = id;
      buffer.bytes = 100 + round % 7;
      tracker.buffer_alloc(device, buffer);
    });
    workload.with_tracker([&](tracker::IdTracker& tracker) {
      const ttmem_cb cb = {105664, 32 * (1 + round % 5), &kGrid, 1, 0};
      if (round % 3 == 0) {
        tracker.program_destroy(id);
      } else {
        tracker.program_place(device, id, {&cb, 1});
      }
    });
    if (round % 3 != 0) {
      workload.with_tracker(
          [&](tracker::IdTracker& tracker) { tracker.buffer_free(device, TTMEM_DRAM, id); });
    }
    std::this_thread::yield();  // lets the transport's thread run if there are few cores
  }
}

TEST(Threads, AServerKilledUnderLoadFinallyHasTheRightFigures) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/server";
  Workload workload(path);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { work(workload, i, done); });
  }
  for (std::size_t i = 0; i < kServers; ++i) {
    Server server(path);
    // Kills the server during the resend or after the resend.
    EXPECT_TRUE(server.read_until(
        [&](const ReportedAccount& account) { return account.messages > 1 + 300 * i; }));
    EXPECT_TRUE(server.account().faults.empty()) << server.account().faults.front();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  Server server(path);
  const ReportedAccount truth = workload.truth();
  EXPECT_TRUE(server.read_until(
      [&](const ReportedAccount& account) { return account.knows_the_same_as(truth); }));
  EXPECT_TRUE(server.account().faults.empty());
  EXPECT_TRUE(workload.end());
}

TEST(Threads, ATransportEndsAlsoWithoutAServer) {
  const TemporaryDirectory directory;
  Workload workload(directory.path() + "/server");
  EXPECT_TRUE(workload.end());
}

}  // namespace
}  // namespace ttmem::transport
