// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tracker/spin_lock.hpp"
#include "tracker/tracker.hpp"
#include "transport/bell.hpp"
#include "transport/outbox.hpp"
#include "transport/private_socket.hpp"

namespace ttmem::transport {

// Tells an allocation server what this process holds: a thread of its own connects, replays what is
// live, sends what changes, and begins again when the connection ends. The workload never waits for
// it: a call fills at most 9 MiB of messages that were not sent yet; a server that is slower than
// that is disconnected, what it missed is counted, and it gets a replay.
//
// A server that is not there, refuses or goes away is no failure: the thread tries again after
// 50 ms, then less and less often, at last every 2 s.
class SocketTransport {
 public:
  // For a person who asked for a log. Called from the thread too.
  using Log = void (*)(const char* message, const char* reason) noexcept;

  struct Options {
    std::string path;          // of the server's socket; relative ones as seen now
    bool keep_stderr = false;  // `log` writes there
    Log log = nullptr;
  };

  // Starts the thread and observes `tracker`. The caller holds `lock`, which keeps the calls of the
  // tracker apart; both must live as long as the process. Null when it cannot be; the log says why.
  [[nodiscard]] static std::unique_ptr<SocketTransport> start(tracker::Tracker& tracker,
                                                              tracker::SpinLock& lock,
                                                              Options options);

  // Only in a forked child, where the thread is not, or after wait_until_ended() said true.
  ~SocketTransport() = default;
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  // With the lock held: the thread ends as soon as a connected server has everything.
  void end() noexcept;
  // With the lock held: the figures are wrong from now on; the server must forget them.
  void give_up() noexcept;
  // Without the lock, after one of the two. False when the time was over first.
  bool wait_until_ended(std::chrono::milliseconds at_most) noexcept;

 private:
  // What the thread does next.
  struct Next {
    std::span<const wire::Message> messages;
    std::uint32_t heard = 0;  // for the bell
    bool replaying = false;
    bool over = false;
  };

  SocketTransport(tracker::Tracker& tracker, tracker::SpinLock& lock, Options options,
                  std::unique_ptr<MessageRing> ring);
  bool start_thread() noexcept;
  void run() noexcept;
  void connect_again_and_again(PrivateSocket& socket) noexcept;
  bool talk(PrivateSocket& socket) noexcept;
  Next next(std::size_t sent, bool idle) noexcept;
  void complain(const char* what, int error) noexcept;

  tracker::SpinLock& lock_;
  const Options options_;
  Bell bell_;      // for the thread
  Outbox outbox_;  // guarded by lock_
  std::atomic<bool> ending_{false};
  bool given_up_ = false;  // guarded by lock_
  Bell ended_;             // rings once, and is the last that the thread touches
  int complained_ = 0;     // the thread's own: about which errno
};

}  // namespace ttmem::transport
