// SPDX-License-Identifier: Apache-2.0
#include "server/socket/socket_server.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "collector/collector.hpp"

namespace ttmem::server {
namespace {

// So small that what is read stays in the L2 cache until it is handled.
constexpr std::size_t kScratchBytes = 64 << 10;

// Every client needs two descriptors: its connection and its segment.
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
      acceptor_(loop),
      pause_(loop),
      log_(std::move(events)),
      responder_([&observatory]() -> const model::Snapshot& { return observatory.snapshot(); },
                 [&observatory]() -> const model::Snapshot& { return observatory.figures(); }),
      clients_(loop, options.directory, complaints_),
      context_{clients_, log_, responder_, statistics_, complaints_, ::geteuid()},
      scratch_(kScratchBytes) {}

Result<void> SocketServer::start() {
  allow_many_descriptors();
  const mode_t mode = options_.mode.value_or(::geteuid() == 0 ? 0666 : 0600);
  Result<Listener> listener = Listener::open(options_.path, mode);
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  remove_abandoned(options_.directory);
  // The acceptor gets its own descriptor, which it closes. The listener removes the path.
  acceptor_.assign(Protocol(), ::fcntl(listener_.fd(), F_DUPFD_CLOEXEC, 0));
  spdlog::info("listening on {} (mode {:04o})", options_.path, mode);
  accept();
  return {};
}

void SocketServer::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, Protocol::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (error) return accept_later(error);
    add(std::move(socket));
    accept();
  });
}

void SocketServer::add(Protocol::socket socket) {
  const std::optional<Peer> peer = peer_of(socket.native_handle());
  if (!peer) return;  // it is gone already
  ++statistics_.connections;
  auto connection = std::make_shared<Connection>(
      std::move(socket), context_, next_id_++, *peer, scratch_,
      [this](const std::shared_ptr<Connection>& ended) { connections_.erase(ended); });
  connections_.insert(connection);
  connection->start();
}

// Most likely there is no descriptor left. Connected clients are served, the others wait.
void SocketServer::accept_later(const boost::system::error_code& error) {
  spdlog::warn("cannot accept another client: {}; {} are connected; raise the limit of open files",
               error.message(), connections_.size());
  pause_.expires_after(std::chrono::seconds(1));
  pause_.async_wait([this](const boost::system::error_code& stopped) {
    if (!stopped) accept();
  });
}

void SocketServer::stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  listener_.close();
  clients_.stop();
  for (const auto& connection : connections_) connection->close();
  connections_.clear();
  // A closed connection lives until its handlers have run.
  loop_.restart();
  loop_.poll();
  log_.flush();
  complaints_.finish();
  spdlog::info("stopped after {} connections and {} messages; {} bad, {} refused",
               statistics_.connections, statistics_.messages, statistics_.bad, statistics_.refused);
}

}  // namespace ttmem::server
