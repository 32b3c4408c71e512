// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
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

  // The client of that process; shared by the connections that speak for it. Fails as
  // Client::start() does.
  [[nodiscard]] Result<std::shared_ptr<Client>> client_of(
      const segment::SegmentWriter::Process& process);

  // Before reports are applied, many at once: the buffers in them all came now.
  void look_at_clock() { now_ns_ = tracker::now(); }

  // A connection stops to speak for a client. When it was the last one, says what the client left,
  // and removes its segment.
  void leave(const std::shared_ptr<Client>& client, ConnectionId connection);

  // The server stops: whoever leaves from now on did not end by itself, and nothing is said of it.
  void stop() { stopping_ = true; }

  [[nodiscard]] DeviceTotals& totals() { return totals_; }
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  using Key = std::pair<pid_t, std::uint64_t>;  // and its start time: pids come back

  std::string directory_;
  DeviceTotals totals_;                    // before the clients, which refer to it
  std::uint64_t now_ns_ = tracker::now();  // likewise
  std::map<Key, std::weak_ptr<Client>> clients_;
  bool stopping_ = false;
};

}  // namespace ttmem::server
