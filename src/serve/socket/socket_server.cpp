// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/socket_server.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "read/collector/collector.hpp"

namespace ttmem::serve {
namespace {

// The size of the read buffer. The buffer is small enough to stay in the L2 cache until its
// messages are handled.
constexpr std::size_t kScratchBytes = 64 << 10;

// Raises the limit of open files, because every client needs two descriptors: one for its
// connection and one for its segment.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void remove_abandoned(const std::string& directory) {
  const collector::DeadSegments abandoned = collector::find_abandoned(directory);
  if (abandoned.segments.empty()) return;
  const collector::ReapReport report = collector::reap(directory, abandoned.segments);
  spdlog::info("removed {} segment{} that a killed server left in {}", report.removed,
               report.removed == 1 ? "" : "s", directory);
  for (const std::string& warning : report.warnings) spdlog::warn("{}", warning);
}

}  // namespace

SocketServer::SocketServer(boost::asio::io_context& loop, Observatory& observatory,
                           const SocketOptions& options, std::shared_ptr<spdlog::logger> events)
    : loop_(loop),
      options_(options),
      log_(std::move(events)),
      responder_([&observatory]() -> const model::Snapshot& { return observatory.snapshot(); },
                 [&observatory]() -> const model::Snapshot& { return observatory.figures(); }),
      clients_(loop, options.directory, complaints_, [this](pid_t pid) { read_rest(pid); }),
      context_{clients_, log_, responder_, statistics_, complaints_, ::geteuid()},
      scratch_(kScratchBytes) {}

Result<void> SocketServer::start() {
  allow_many_descriptors();
  const Result<void> listening = listen();
  if (!listening) return listening.error();
  remove_abandoned(options_.directory);
  for (Entrance& entrance : entrances_) accept(entrance);
  return {};
}

// Listens on both paths. Skips the safe path if its directory cannot be used. Skips the other path
// if another user occupies it, and the server already listens on the safe path.
Result<void> SocketServer::listen() {
  const mode_t mode = options_.mode.value_or(::geteuid() == 0 ? 0666 : 0600);
  if (!options_.safe_path.empty()) {
    const Result<void> made = Listener::make_directory(options_.safe_path);
    if (!made) {
      spdlog::info("not listening on {}: {}", options_.safe_path, made.error().message);
    } else if (const Result<void> safe = listen_at(options_.safe_path, mode); !safe) {
      return safe.error();
    }
  }
  Result<void> named = listen_at(options_.path, mode);
  if (named || entrances_.empty() || !Listener::is_of_another(options_.path)) return named;
  spdlog::warn("{}; clients of the original tools do not find this server", named.error().message);
  return {};
}

Result<void> SocketServer::listen_at(const std::string& path, mode_t mode) {
  Result<Listener> listener = Listener::open(path, mode);
  if (!listener) return listener.error();
  Entrance& entrance = entrances_.emplace_back(loop_);
  entrance.listener = std::move(*listener);
  // Duplicates the descriptor, because the acceptor and the listener each close one.
  entrance.acceptor.assign(Protocol(), ::fcntl(entrance.listener.fd(), F_DUPFD_CLOEXEC, 0));
  boost::system::error_code ignored;
  entrance.acceptor.non_blocking(true, ignored);
  spdlog::info("listening on {} (mode {:04o})", path, mode);
  return {};
}

// Waits for connections without letting Asio accept them, so that each connection is always either
// in Linux's queue or in connections_.
void SocketServer::accept(Entrance& entrance) {
  entrance.acceptor.async_wait(Protocol::acceptor::wait_read,
                               [this, &entrance](const boost::system::error_code& stopped) {
                                 if (stopped) return;
                                 if (const auto error = accept_all(entrance))
                                   return accept_later(entrance, error);
                                 accept(entrance);
                               });
}

// Accepts at most as many connections as Linux's queue can hold. Returns the error of a connection
// that cannot be accepted.
boost::system::error_code SocketServer::accept_all(Entrance& entrance) {
  boost::system::error_code error;
  for (int i = 0; i < SOMAXCONN && entrance.acceptor.is_open(); ++i) {
    Protocol::socket socket(loop_);
    entrance.acceptor.accept(socket, error);
    if (error == boost::asio::error::would_block) return {};
    if (error) return error;
    add(std::move(socket));
  }
  return {};
}

// Reads everything that the process (nullopt: any process) has sent, also over connections that
// wait in Linux's queue. Reads older connections first, so that a newer connection replaces an
// older one.
void SocketServer::read_rest(std::optional<pid_t> of_process) {
  // Ignores the errors, because a connection that cannot be accepted now is accepted later.
  for (Entrance& entrance : entrances_) (void)accept_all(entrance);
  std::vector<std::shared_ptr<Connection>> chosen;
  for (const auto& connection : connections_) {
    if (!of_process || connection->peer().pid == *of_process) chosen.push_back(connection);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  for (const auto& connection : chosen) connection->read_rest();
}

void SocketServer::add(Protocol::socket socket) {
  const std::optional<Peer> peer = peer_of(socket.native_handle());
  // Linux reports no peer if the connection is closed already.
  if (!peer) return;
  ++statistics_.connections;
  auto connection = std::make_shared<Connection>(
      std::move(socket), context_, next_id_++, *peer, scratch_,
      [this](const std::shared_ptr<Connection>& ended) { connections_.erase(ended); });
  connections_.insert(connection);
  connection->start();
}

// Accepts the waiting connections a second later, and serves connected clients meanwhile. The usual
// cause is that the process has no free descriptor.
void SocketServer::accept_later(Entrance& entrance, const boost::system::error_code& error) {
  spdlog::warn("cannot accept another client: {}; {} are connected; raise the limit of open files",
               error.message(), connections_.size());
  entrance.pause.expires_after(std::chrono::seconds(1));
  entrance.pause.async_wait([this, &entrance](const boost::system::error_code& stopped) {
    if (!stopped) accept(entrance);
  });
}

void SocketServer::stop() {
  // Reads the remaining messages, because they may include goodbyes. Without its goodbye, a process
  // that exited cleanly would count as dead.
  read_rest(std::nullopt);
  boost::system::error_code ignored;
  for (Entrance& entrance : entrances_) {
    entrance.acceptor.close(ignored);
    entrance.pause.cancel();
    entrance.listener.close();
  }
  clients_.stop();
  for (const auto& connection : connections_) connection->close();
  connections_.clear();
  // Runs the remaining handlers, because a closed connection lives until its handlers have run.
  loop_.restart();
  loop_.poll();
  log_.flush();
  complaints_.finish();
  spdlog::info("stopped after {} connections and {} messages; {} bad, {} refused",
               statistics_.connections, statistics_.messages, statistics_.bad, statistics_.refused);
}

}  // namespace ttmem::serve
