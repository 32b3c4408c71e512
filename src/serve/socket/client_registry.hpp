// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "serve/socket/client.hpp"
#include "serve/socket/complaints.hpp"
#include "serve/socket/process_watch.hpp"
#include "track/tracker/clock.hpp"

namespace ttmem::serve {

// The processes that report over the socket, each once however many connections it has. One thread:
// that of the event loop.
//
// The end of a connection is not the end of a process. A client without a connection goes on as
// long as its process lives and holds something; then
//
//  - nothing is left of one that held nothing, or said goodbye;
//  - the segment of any other stays as evidence, and is reported and removed as that of any dead
//    process.
//
// A process that has ended may have connections that are not accepted or not fully read yet. These
// connections are read first.
//
// A process that the kernel does not show here ends with its last connection.
class ClientRegistry {
 public:
  // Reads all connections of an ended process to their end, also connections that wait to be
  // accepted.
  using ReadRest = std::function<void(pid_t)>;

  // `loop` and `complaints` must outlive it. Null `read_rest`: there are no other connections.
  ClientRegistry(boost::asio::io_context& loop, std::string directory, Complaints& complaints,
                 ReadRest read_rest = nullptr)
      : loop_(loop),
        directory_(std::move(directory)),
        complaints_(complaints),
        read_rest_(std::move(read_rest)) {}
  ClientRegistry(const ClientRegistry&) = delete;  // the clients refer to it
  ClientRegistry& operator=(const ClientRegistry&) = delete;

  // The client of that process, which all connections that report for it share; `connection` is one
  // of them from now on. `alone`: the kernel does not show the peer here: its pid is one of many
  // containers, so that nothing tells whose another connection is. Fails as Client::start() does.
  [[nodiscard]] Result<std::shared_ptr<Client>> connect(
      const segment::SegmentWriter::Process& process, ConnectionId connection, bool alone);

  // A connection to a client ended, each only once.
  void disconnect(const std::shared_ptr<Client>& client, ConnectionId connection,
                  EndOfConnection end);

  // Sets the time of the reports that are applied until the next call.
  void update_clock() { now_ns_ = tracker::now(); }

  // The server stops. The clients do not: their segments are removed, now or with their
  // connections.
  void stop();

  [[nodiscard]] DeviceTotals& totals() { return totals_; }
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

  // Clients that come and end all the time must not fill the file system: of this many the segments
  // stay until they are reaped.
  static constexpr std::size_t kMaxEvidence = 128;

 private:
  // Pid, start time because pids come back, and the connection of one that is `alone`.
  using Key = std::tuple<pid_t, std::uint64_t, ConnectionId>;
  struct Known {
    std::shared_ptr<Client> client;
    std::unique_ptr<ProcessWatch> watch;  // while it has no connection
  };
  using Clients = std::map<Key, Known>;

  [[nodiscard]] Clients::iterator find_started(pid_t pid);
  void wait_for_end(Clients::iterator known);
  void end_later(const Key& key);
  void process_ended(const Key& key);
  void end(Clients::iterator known);
  void remove(Clients::iterator known);
  [[nodiscard]] bool may_leave_evidence();

  boost::asio::io_context& loop_;
  std::string directory_;
  Complaints& complaints_;
  ReadRest read_rest_;
  DeviceTotals totals_;                    // before the clients, which refer to it
  std::uint64_t now_ns_ = tracker::now();  // likewise
  Clients clients_;
  std::vector<std::string> evidence_;  // paths; some may be reaped by now
  std::chrono::steady_clock::time_point evidence_checked_{};
  bool stopping_ = false;
};

}  // namespace ttmem::serve
