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

// Reports to an allocation server what this process holds. A thread connects, sends all live
// objects and then the changes, and connects again when the connection ends. The workload never
// waits for the thread. At most 9 MiB of messages wait to be sent. A server that falls behind
// further is disconnected, the messages that it missed are counted, and it receives all live
// objects again.
//
// A server that is absent, refuses or ends is not a failure: the thread tries again after 50 ms,
// then after longer pauses of up to 2 s. A server of another user receives nothing (may_tell()).
class SocketTransport {
 public:
  // Writes a line to the log. The transport's thread calls this function too.
  using Log = void (*)(const char* message, const char* reason) noexcept;

  struct Options {
    // Paths of sockets, tried in this order. A relative path is resolved by start().
    std::vector<std::string> paths;
    bool keep_stderr = false;  // `log` writes to stderr
    Log log = nullptr;
  };

  // Starts the thread, which reports what `segment` contains. The caller holds `lock`, which guards
  // the segment, and makes observer() the observer of the segment's tracker before it releases the
  // lock. The segment and the lock must live as long as the process. Returns null if the thread
  // cannot start; the log contains the reason.
  [[nodiscard]] static std::unique_ptr<SocketTransport> start(segment::SegmentWriter& segment,
                                                              tracker::SpinLock& lock,
                                                              Options options);
  [[nodiscard]] tracker::Observer& observer() noexcept { return outbox_; }

  // To be called only in a forked child, which lacks the thread, or after wait_until_ended()
  // returned true.
  ~SocketTransport() = default;
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  // Ends the thread as soon as a connected server has all messages. If the server is slow, the
  // thread soon sends only the message that the process ended cleanly. The caller holds the lock.
  void end() noexcept;
  // Makes the server forget the figures of this process, and ends the thread. The caller holds the
  // lock.
  void give_up() noexcept;
  // Waits until the thread has ended. Call this function after end() or give_up(), without the
  // lock. Returns false if the thread has not ended after `at_most`.
  bool wait_until_ended(std::chrono::milliseconds at_most) noexcept;
  // Says goodbye over a new connection, opened by the calling thread. The workload sees the
  // descriptor of this connection, unlike the descriptors of the transport's own thread. To be
  // called only when the process exits and wait_until_ended() has returned false, because the
  // transport's own thread got no CPU time.
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
  // Returns false, and logs the reason, if no server may receive reports.
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
  Wakeup wakeup_;  // wakes the thread
  Outbox outbox_;  // guarded by lock_
  std::atomic<bool> ending_{false};
  bool given_up_ = false;                                 // guarded by lock_
  std::chrono::steady_clock::time_point ending_since_{};  // guarded by lock_
  // Only the thread uses goodbye_.
  enum class Goodbye : std::uint8_t { none, queued, sent } goodbye_ = Goodbye::none;
  Wakeup ended_;          // notified once; the thread touches no member afterwards
  int logged_error_ = 0;  // last errno in the log; only the thread uses it
};

}  // namespace ttmem::transport
