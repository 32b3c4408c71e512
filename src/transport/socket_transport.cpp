// SPDX-License-Identifier: Apache-2.0
#include "transport/socket_transport.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace ttmem::transport {
namespace {

using std::chrono::milliseconds;
using wire::kMessageBytes;

constexpr std::size_t kRingMessages = 65536;
constexpr std::size_t kBatchBytes = 1024 * kMessageBytes;
constexpr std::size_t kStackBytes = 256 * 1024;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{2000};

// After the last message the thread looks again once, a tick later, so that a workload that
// allocates all the time wakes nobody: it would cost a system call. Only a burst rings before that.
constexpr milliseconds kTick{5};
constexpr std::size_t kBurst = 4096;
// Then it sleeps until the next message, but sees this often whether the server is still there.
constexpr milliseconds kIdle{250};
// How often it looks, while a server does not read, whether it is to end or to start anew.
constexpr milliseconds kFull{20};

// The workload may change its directory afterwards.
std::string absolute(std::string path) {
  if (path.empty() || path.front() == '/') return path;
  char directory[4096];
  if (::getcwd(directory, sizeof directory) == nullptr) return path;
  return std::string(directory) + "/" + path;
}

}  // namespace

std::unique_ptr<SocketTransport> SocketTransport::start(tracker::Tracker& tracker,
                                                        tracker::SpinLock& lock, Options options) {
  options.path = absolute(std::move(options.path));
  const Log log = options.log;
  if (options.path.size() > PrivateSocket::longest_path()) {
    log("the path in TTMEM_SOCKET is too long for a socket; nothing is sent", options.path.c_str());
    return nullptr;
  }
  auto ring = MessageRing::create(kRingMessages);
  if (ring == nullptr) {
    log("no memory for messages to the allocation server; nothing is sent", std::strerror(errno));
    return nullptr;
  }
  std::unique_ptr<SocketTransport> transport(
      new SocketTransport(tracker, lock, std::move(options), std::move(ring)));
  if (!transport->start_thread()) {
    log("cannot start the thread that talks to the allocation server; nothing is sent",
        std::strerror(errno));
    return nullptr;
  }
  tracker.set_observer(&transport->outbox_);
  return transport;
}

SocketTransport::SocketTransport(tracker::Tracker& tracker, tracker::SpinLock& lock,
                                 Options options, std::unique_ptr<MessageRing> ring)
    : lock_(lock),
      options_(std::move(options)),
      outbox_(tracker.segment(), bell_, std::move(ring)) {}

bool SocketTransport::start_thread() noexcept {
  // The workload's signal handlers run in the workload's threads.
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
    // The thread-local variables of the workload alone are larger than our stack.
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
  ending_.store(true);
  bell_.ring();
}

void SocketTransport::give_up() noexcept {
  given_up_ = true;
  end();
}

bool SocketTransport::wait_until_ended(milliseconds at_most) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + at_most;
  while (ended_.heard() == 0) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    ended_.wait(0, left);
  }
  return true;
}

void SocketTransport::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "ttmem-socket");
  if (leave_the_descriptors_of_the_process(options_.keep_stderr)) {
    PrivateSocket socket;
    connect_again_and_again(socket);
  } else {
    complain("cannot have descriptors of its own; nothing is sent", errno);
  }
  ended_.ring();
}

void SocketTransport::connect_again_and_again(PrivateSocket& socket) noexcept {
  milliseconds pause = kFirstPause;
  for (;;) {
    const int error = socket.connect(options_.path);
    bool went_well = false;
    if (error != 0) {
      complain("cannot reach the allocation server; start `ttmem serve`, or set TTMEM_SOCKET",
               error);
    } else {
      complained_ = 0;
      went_well = talk(socket);
      socket.close();
    }
    const std::uint32_t heard = bell_.heard();
    // The first attempt is made even by a process that is ending already: it may be all there is.
    if (ending_.load()) return;
    if (went_well) pause = kFirstPause;
    bell_.wait(heard, pause);
    if (ending_.load()) return;
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Until the connection ends. Whether the server had got all of the replay by then.
bool SocketTransport::talk(PrivateSocket& socket) noexcept {
  {
    const std::lock_guard guard(lock_);
    outbox_.connected();
  }
  bool replayed = false;
  bool idle = false;
  std::size_t sent = 0;  // whole messages
  std::size_t part = 0;  // bytes of the one after them
  for (bool over = false; !over;) {
    const Next todo = next(sent, idle);
    sent = 0;
    over = todo.over;
    if (over || (todo.messages.empty() && todo.replaying)) continue;
    if (todo.messages.empty()) {
      replayed = true;
      over = ending_.load() || socket.is_over();
      if (!over) bell_.wait(todo.heard, idle ? kIdle : kTick);
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
  return replayed;
}

SocketTransport::Next SocketTransport::next(std::size_t sent, bool idle) noexcept {
  const std::lock_guard guard(lock_);
  Next result;
  result.over = outbox_.overflowed() || given_up_;
  if (result.over) return result;
  outbox_.pop(sent);
  result.replaying = outbox_.advance();
  result.messages = outbox_.front();
  const bool rests = result.messages.empty() && !result.replaying;
  outbox_.wake_at(!rests ? Outbox::kNever : idle ? 1 : kBurst);
  result.heard = bell_.heard();
  return result;
}

// Once, until another reason comes or the server was there.
void SocketTransport::complain(const char* what, int error) noexcept {
  if (error == complained_) return;
  complained_ = error;
  char reason[256];
  const char* text = ::strerror_r(error, reason, sizeof reason);
  options_.log(what, text);
}

}  // namespace ttmem::transport
