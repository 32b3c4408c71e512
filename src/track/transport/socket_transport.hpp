// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "segment/writer/segment_writer.hpp"
#include "track/tracker/observer.hpp"
#include "track/tracker/spin_lock.hpp"
#include "track/transport/outbox.hpp"
#include "track/transport/private_socket.hpp"
#include "track/transport/wakeup.hpp"

namespace ttmem::transport {

// Reports to an allocation server what this process holds. A thread connects, sends what is live
// and then what changes, and starts again when the connection ends. The workload never waits for
// it. At most 9 MiB of messages wait to be sent; a server that falls behind further is
// disconnected, the messages that it missed are counted, and it gets everything that is live again.
//
// A server that is absent, refuses or goes away is no failure: the thread tries again after 50 ms,
// then less and less often, at last every 2 s. Nothing is sent to a server of another user
// (may_tell()).
class SocketTransport {
 public:
  // Called from the thread too.
  using Log = void (*)(const char* message, const char* reason) noexcept;

  struct Options {
    std::vector<std::string>
        paths;                 // of sockets, tried in this order; relative to the directory now
    bool keep_stderr = false;  // `log` writes there
    Log log = nullptr;
  };

  // Starts the thread, which reports what `segment` contains. The caller holds `lock`, which guards
  // the segment, and makes observer() the observer of the segment's tracker before it releases the
  // lock. The segment and the lock must live as long as the process. Returns null if the thread
  // cannot start; the log says why.
  [[nodiscard]] static std::unique_ptr<SocketTransport> start(segment::SegmentWriter& segment,
                                                              tracker::SpinLock& lock,
                                                              Options options);
  [[nodiscard]] tracker::Observer& observer() noexcept { return outbox_; }

  // Only in a forked child, which lacks the thread, or after wait_until_ended() returned true.
  ~SocketTransport() = default;
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  // With the lock held: the thread ends as soon as a connected server has everything, or soon at
  // least knows that the process has ended cleanly.
  void end() noexcept;
  // With the lock held: tells the server to forget the figures, and ends the thread.
  void give_up() noexcept;
  // Without the lock, after end() or give_up(). False when it takes longer than `at_most`.
  bool wait_until_ended(std::chrono::milliseconds at_most) noexcept;
  // Says goodbye from the calling thread, with a descriptor of the workload. Call it when the
  // process exits and wait_until_ended() returned false: the transport's own thread gets no
  // processor.
  void say_goodbye_now() noexcept;

 private:
  struct Next {
    std::span<const wire::Message> messages;
    std::uint32_t seen = 0;  // Wakeup::count()
    bool resending = false;
    bool over = false;
  };

  SocketTransport(segment::SegmentWriter& segment, tracker::SpinLock& lock, Options options,
                  std::unique_ptr<MessageRing> ring);
  bool start_thread() noexcept;
  void run() noexcept;
  void keep_connected(PrivateSocket& socket) noexcept;
  // Returns false, and logs why, if there is no server that may be told.
  [[nodiscard]] bool connect(PrivateSocket& socket) noexcept;
  static constexpr std::size_t kReasonBytes = 256;
  [[nodiscard]] int connect_to_server(PrivateSocket& socket,
                                      std::span<char, kReasonBytes> reason) const noexcept;
  bool send_until_over(PrivateSocket& socket) noexcept;
  void say_goodbye_over(PrivateSocket& socket) const noexcept;
  Next next(std::size_t sent, bool idle) noexcept;
  [[nodiscard]] bool is_late() const noexcept;
  void log_once(int error, const char* what, const char* reason) noexcept;

  tracker::SpinLock& lock_;
  const Options options_;
  Wakeup wakeup_;  // for the thread
  Outbox outbox_;  // guarded by lock_
  std::atomic<bool> ending_{false};
  bool given_up_ = false;                                 // guarded by lock_
  std::chrono::steady_clock::time_point ending_since_{};  // likewise
  // The thread's own:
  enum class Goodbye : std::uint8_t { none, queued, sent } goodbye_ = Goodbye::none;
  Wakeup ended_;          // notified once; nothing that the thread touches comes later
  int logged_error_ = 0;  // the thread's own: the last errno in the log
};

}  // namespace ttmem::transport
