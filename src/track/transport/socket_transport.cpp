// SPDX-License-Identifier: Apache-2.0
#include "track/transport/socket_transport.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/server_owner.hpp"

namespace ttmem::transport {
namespace {

using std::chrono::milliseconds;
using wire::kMessageBytes;

constexpr std::size_t kRingMessages = 65536;
constexpr std::size_t kBatchBytes = 1024 * kMessageBytes;
constexpr std::size_t kStackBytes = 256 * 1024;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{2000};

// When the queue is empty, the thread waits one tick and checks the queue again before it goes
// idle. During the tick, only a burst of kBurst messages wakes the thread. A workload that
// allocates continuously therefore makes no system calls to wake the thread.
constexpr milliseconds kTick{5};
constexpr std::size_t kBurst = 4096;
// An idle thread sleeps until the next message, but checks at this interval that the server is
// still there.
constexpr milliseconds kIdle{250};
// An exiting process says goodbye over a new connection if sending over the old connection takes
// longer than this.
constexpr milliseconds kLastGoodbye{50};
// While the server does not read, the thread checks at this interval whether the thread must end or
// connect again.
constexpr milliseconds kFull{20};

// A value in place of an errno. It means that the server belongs to another user.
constexpr int kForeignServer = -1;

// Makes the path absolute, because the workload may change its current directory later.
std::string absolute(std::string path) {
  if (path.empty() || path.front() == '/') return path;
  char directory[4096];
  if (::getcwd(directory, sizeof directory) == nullptr) return path;
  return std::string(directory) + "/" + path;
}

}  // namespace

std::unique_ptr<SocketTransport> SocketTransport::start(segment::SegmentWriter& segment,
                                                        tracker::SpinLock& lock, Options options) {
  for (std::string& path : options.paths) path = absolute(std::move(path));
  const std::string last = options.paths.back();
  std::erase_if(options.paths, [](const std::string& path) {
    return path.size() > PrivateSocket::longest_path();
  });
  const Log log = options.log;
  if (options.paths.empty()) {
    log("nothing is sent: the path in TTMEM_SOCKET is too long for a socket; use a shorter one",
        last.c_str());
    return nullptr;
  }
  auto ring = MessageRing::create(kRingMessages);
  if (ring == nullptr) {
    log("nothing is sent: no memory for messages to the allocation server", std::strerror(errno));
    return nullptr;
  }
  std::unique_ptr<SocketTransport> transport(
      new SocketTransport(segment, lock, std::move(options), std::move(ring)));
  if (!transport->start_thread()) {
    log("nothing is sent: cannot start the thread that reports to the allocation server",
        std::strerror(errno));
    return nullptr;
  }
  return transport;
}

SocketTransport::SocketTransport(segment::SegmentWriter& segment, tracker::SpinLock& lock,
                                 Options options, std::unique_ptr<MessageRing> ring)
    : lock_(lock), options_(std::move(options)), outbox_(segment, wakeup_, std::move(ring)) {}

bool SocketTransport::start_thread() noexcept {
  // Blocks all signals, because the workload's signal handlers must run in the workload's threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  const auto body = [](void* self) -> void* {
    static_cast<SocketTransport*>(self)->run();
    return nullptr;
  };
  pthread_t thread{};
  int error = ::pthread_create(&thread, &attributes, body, this);
  if (error == EINVAL) {
    // The thread-local variables of the workload do not fit into kStackBytes. Tries again with the
    // default stack size.
    pthread_attr_t roomy;
    ::pthread_attr_init(&roomy);
    ::pthread_attr_setdetachstate(&roomy, PTHREAD_CREATE_DETACHED);
    error = ::pthread_create(&thread, &roomy, body, this);
    ::pthread_attr_destroy(&roomy);
  }
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return error == 0;
}

void SocketTransport::end() noexcept {
  ending_since_ = std::chrono::steady_clock::now();
  ending_.store(true);
  wakeup_.notify();
}

void SocketTransport::give_up() noexcept {
  given_up_ = true;
  end();
}

bool SocketTransport::wait_until_ended(milliseconds at_most) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + at_most;
  while (ended_.count() == 0) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    ended_.wait(0, left);
  }
  return true;
}

void SocketTransport::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "ttmem-socket");
  if (unshare_descriptors(options_.keep_stderr)) {
    PrivateSocket socket;
    keep_connected(socket);
  } else {
    char reason[256];
    const int error = errno;
    log_once(error, "nothing is sent: the thread cannot get its own file descriptors",
             ::strerror_r(error, reason, sizeof reason));
  }
  ended_.notify();
}

void SocketTransport::keep_connected(PrivateSocket& socket) noexcept {
  milliseconds pause = kFirstPause;
  bool is_known = false;  // true: a server may have reports of this process
  for (;;) {
    bool went_well = false;
    if (connect(socket)) {
      logged_error_ = 0;
      went_well = send_until_over(socket);
      socket.close();
      is_known = goodbye_ != Goodbye::sent;
    }
    const std::uint32_t seen = wakeup_.count();
    if (went_well) pause = kFirstPause;
    // The first attempt comes before the check of ending_: a short process may be ending already,
    // and must still report.
    if (!ending_.load()) wakeup_.wait(seen, pause);
    pause = std::min(2 * pause, kLongestPause);
    if (ending_.load()) break;
  }
  // Says goodbye if the server has not received a goodbye. Otherwise the server would assume that
  // the process was killed.
  if (is_known && connect(socket)) say_goodbye_over(socket);
}

void SocketTransport::say_goodbye_now() noexcept {
  PrivateSocket socket;
  char reason[kReasonBytes];
  if (connect_to_server(socket, reason) == 0) say_goodbye_over(socket);
}

// Says goodbye over a new connection, whose buffer has room even if the server does not read.
void SocketTransport::say_goodbye_over(PrivateSocket& socket) const noexcept {
  std::array<wire::Message, 2> messages;
  const std::uint64_t now = clock_ns(CLOCK_REALTIME_COARSE);
  write_notice(messages[0], outbox_.sender(), wire::ClientNotice::hello, now);
  write_notice(messages[1], outbox_.sender(), wire::ClientNotice::goodbye, now);
  (void)socket.send(messages.data(), sizeof messages);
}

bool SocketTransport::connect(PrivateSocket& socket) noexcept {
  char reason[kReasonBytes];
  const int error = connect_to_server(socket, reason);
  if (error == 0) return true;
  log_once(error,
           error == kForeignServer
               ? "an allocation server of another user is told nothing; run `ttmem serve` as this "
                 "user or as root, and set TTMEM_SOCKET to its socket"
               : "cannot reach the allocation server; start `ttmem serve`, or set TTMEM_SOCKET",
           error == kForeignServer ? reason : ::strerror_r(error, reason, sizeof reason));
  return false;
}

// Connects to the first server that may receive reports. Returns 0 on success, otherwise an errno
// or kForeignServer. With kForeignServer, `reason` contains the reason.
int SocketTransport::connect_to_server(PrivateSocket& socket,
                                       std::span<char, kReasonBytes> reason) const noexcept {
  int error = 0;
  for (const std::string& path : options_.paths) {
    const int failure = socket.connect(path);
    if (failure != 0) {
      if (error != kForeignServer) error = failure;
      continue;
    }
    const std::optional<uid_t> owner = socket.owner();
    if (owner && may_tell(*owner, ::geteuid())) return 0;
    socket.close();
    error = kForeignServer;
    std::snprintf(
        reason.data(), reason.size(), "that at %s belongs to user %lld%s", path.c_str(),
        owner ? static_cast<long long>(*owner) : -1LL,
        owner == kOverflowUid ? ", or to one that this user namespace does not have" : "");
  }
  return error;
}

// Sends until the connection ends. Returns true if the server received the whole resend.
bool SocketTransport::send_until_over(PrivateSocket& socket) noexcept {
  {
    const std::lock_guard guard(lock_);
    outbox_.connected();
  }
  goodbye_ = Goodbye::none;
  bool resent = false;
  bool idle = false;
  std::size_t sent = 0;  // number of whole messages sent
  std::size_t part = 0;  // bytes sent of the next message
  for (bool over = false; !over;) {
    const Next todo = next(sent, idle);
    sent = 0;
    over = todo.over;
    if (over || (todo.messages.empty() && todo.resending)) continue;
    if (todo.messages.empty()) {
      resent = true;
      over = socket.is_over();
      if (!over) wakeup_.wait(todo.seen, idle ? kIdle : kTick);
      idle = true;
      continue;
    }
    idle = false;
    const auto* bytes = reinterpret_cast<const std::byte*>(todo.messages.data());
    const std::size_t size = std::min(todo.messages.size_bytes(), kBatchBytes);
    const std::ptrdiff_t taken = socket.send(bytes + part, size - part);
    if (taken == 0) socket.wait_until_writable(kFull);
    over = taken < 0;
    part += over ? 0 : static_cast<std::size_t>(taken);
    sent = part / kMessageBytes;
    part %= kMessageBytes;
  }
  const std::lock_guard guard(lock_);
  outbox_.disconnected();
  return resent;
}

SocketTransport::Next SocketTransport::next(std::size_t sent, bool idle) noexcept {
  const std::lock_guard guard(lock_);
  Next result;
  result.over = outbox_.overflowed();
  if (result.over) return result;
  outbox_.pop(sent);
  if (goodbye_ == Goodbye::queued && outbox_.empty()) goodbye_ = Goodbye::sent;
  result.over = goodbye_ == Goodbye::sent || is_late();
  if (result.over) return result;
  if (goodbye_ == Goodbye::none) {
    result.resending = outbox_.advance();
    if (ending_.load() && !result.resending && outbox_.empty()) {
      outbox_.say_goodbye();
      goodbye_ = Goodbye::queued;
    }
  }
  result.messages = outbox_.front();
  const bool rests = result.messages.empty() && !result.resending;
  outbox_.wake_at(!rests ? Outbox::kNever : idle ? 1 : kBurst);
  result.seen = wakeup_.count();
  return result;
}

// Returns true if nothing more may be sent over this connection, because give_up() was called or
// the transport takes too long to end. The goodbye then needs a new connection, whose buffer is
// empty.
bool SocketTransport::is_late() const noexcept {
  if (given_up_) return true;
  return ending_.load() && std::chrono::steady_clock::now() - ending_since_ > kLastGoodbye;
}

// Logs an error, unless the same error was logged last and no server was connected since.
void SocketTransport::log_once(int error, const char* what, const char* reason) noexcept {
  if (error == logged_error_) return;
  logged_error_ = error;
  options_.log(what, reason);
}

}  // namespace ttmem::transport
