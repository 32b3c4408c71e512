// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "server/socket/client.hpp"
#include "tracker/clock.hpp"

namespace ttmem::server {

// The processes that report over the socket, each once however many connections it has. One thread:
// that of the event loop.
class ClientRegistry {
 public:
  explicit ClientRegistry(std::string directory) : directory_(std::move(directory)) {}
  ClientRegistry(const ClientRegistry&) = delete;  // the clients refer to it
  ClientRegistry& operator=(const ClientRegistry&) = delete;

  // The client of that process, which all connections that report for it share. `alone` is 0, or
  // the connection of a process that the kernel does not show here: its pid is one of many
  // containers, so that nothing tells whose another connection is. Fails as Client::start() does.
  [[nodiscard]] Result<std::shared_ptr<Client>> client_of(
      const segment::SegmentWriter::Process& process, ConnectionId alone = 0);

  // Sets the time of the reports that are applied until the next call.
  void update_clock() { now_ns_ = tracker::now(); }

  // A connection to a client ended. If it was the last one, logs what the client had not freed and
  // removes its segment.
  void disconnect(const std::shared_ptr<Client>& client, ConnectionId connection);

  // The server stops: disconnect() logs nothing from now on, because the clients did not end.
  void stop() { stopping_ = true; }

  [[nodiscard]] DeviceTotals& totals() { return totals_; }
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  // Pid, start time because pids come back, and `alone`.
  using Key = std::tuple<pid_t, std::uint64_t, ConnectionId>;

  std::string directory_;
  DeviceTotals totals_;                    // before the clients, which refer to it
  std::uint64_t now_ns_ = tracker::now();  // likewise
  std::map<Key, std::weak_ptr<Client>> clients_;
  bool stopping_ = false;
};

}  // namespace ttmem::server
