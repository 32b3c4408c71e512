// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
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
#include "serve/socket/library_connections.hpp"
#include "serve/socket/process_watch.hpp"
#include "track/tracker/clock.hpp"

namespace ttmem::serve {

// The processes that report over the socket. A process has one entry, however many connections it
// has. Used by one thread: the thread of the event loop.
//
// A process may live on after its last connection ends. Its client stays as long as the process
// lives and holds anything. Afterwards
//
//   - the segment of a client that held nothing, or said goodbye, is removed;
//   - any other segment stays as evidence, and is reported and reaped like the segment of any dead
//     process.
//
// A process that has ended may have connections that are not accepted or not fully read yet. The
// registry reads these connections first.
//
// A process that Linux does not show in this pid namespace counts as ended when its last connection
// ends.
class ClientRegistry {
 public:
  // Reads all connections of an ended process to their end, also connections that wait to be
  // accepted.
  using ReadRest = std::function<void(pid_t)>;

  // `loop` and `complaints` must outlive the registry. `read_rest` is null if the server has no
  // connections besides the connections in the registry.
  ClientRegistry(boost::asio::io_context& loop, std::string directory, Complaints& complaints,
                 ReadRest read_rest = nullptr)
      : loop_(loop),
        directory_(std::move(directory)),
        complaints_(complaints),
        read_rest_(std::move(read_rest)) {}
  ClientRegistry(const ClientRegistry&) = delete;  // the clients have pointers into the registry
  ClientRegistry& operator=(const ClientRegistry&) = delete;

  // Adds `connection` to the client of the process, and returns the client. All connections that
  // report for one process share one client. `alone` means that Linux does not show the peer in
  // this pid namespace. Several containers can then use the same pid, so `connection` gets a client
  // of its own. Fails like Client::start().
  [[nodiscard]] Result<std::shared_ptr<Client>> connect(
      const segment::SegmentWriter::Process& process, ConnectionId connection, bool alone);

  // Removes a connection that ended. To be called once for each connection.
  void disconnect(const std::shared_ptr<Client>& client, ConnectionId connection,
                  EndOfConnection end);

  // Sets the time of the reports that are applied until the next call.
  void update_clock() { now_ns_ = tracker::now(); }

  // To be called when the server stops. Removes the segment of each client that has no connection.
  // The segment of any other client is removed when its last connection ends, or stays as evidence
  // if its process has ended and held anything.
  void stop();

  [[nodiscard]] DeviceTotals& totals() { return totals_; }
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

  // The maximum number of segments that stay until they are reaped. Clients that start and end all
  // the time must not fill the file system.
  static constexpr std::size_t kMaxEvidence = 128;
  static constexpr std::size_t kMaxPastLibraries = 256;

 private:
  // The pid, the start time (because pids are used again), and the connection. The connection is
  // only set for a client that is `alone`.
  using Key = std::tuple<pid_t, std::uint64_t, ConnectionId>;
  struct Known {
    std::shared_ptr<Client> client;
    std::unique_ptr<ProcessWatch> watch;  // set while the client has no connection
  };
  using Clients = std::map<Key, Known>;

  [[nodiscard]] Clients::iterator find_started(pid_t pid);
  void wait_for_end(Clients::iterator known);
  void end_later(const Key& key);
  void process_ended(const Key& key);
  void end(Clients::iterator known);
  void remove(Clients::iterator known);
  void restore_libraries(const Key& key, Client& client);
  [[nodiscard]] bool may_leave_evidence();

  boost::asio::io_context& loop_;
  std::string directory_;
  Complaints& complaints_;
  ReadRest read_rest_;
  DeviceTotals totals_;                    // declared before the clients, which refer to it
  std::uint64_t now_ns_ = tracker::now();  // declared before the clients, which refer to it
  Clients clients_;
  // The library connections of the clients that were removed most recently. A connection that was
  // made before a goodbye but is read after the goodbye is found here, and is then known to be
  // outdated.
  std::deque<std::pair<Key, LibraryConnections>> past_libraries_;
  // Paths of the segments that were left as evidence. Some may already be reaped.
  std::vector<std::string> evidence_;
  std::chrono::steady_clock::time_point evidence_checked_{};
  bool stopping_ = false;
};

}  // namespace ttmem::serve
