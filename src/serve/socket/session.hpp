// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "serve/socket/client_registry.hpp"
#include "serve/socket/complaints.hpp"
#include "serve/socket/event_log.hpp"
#include "serve/socket/peer.hpp"
#include "serve/socket/responder.hpp"
#include "track/wire/check.hpp"
#include "track/wire/message.hpp"

namespace ttmem::serve {

// The counts of a socket server since its start.
struct SocketStatistics {
  std::uint64_t connections = 0;
  std::uint64_t messages = 0;  // valid messages
  std::uint64_t bad = 0;       // messages that wire::fault_of() rejects
  std::uint64_t refused = 0;   // messages for a process that the peer may not report for
};

// State that all sessions of a server share. Must outlive the sessions.
struct SessionContext {
  ClientRegistry& clients;
  EventLog& log;
  Responder& responder;
  SocketStatistics& statistics;
  Complaints& complaints;
  uid_t server_uid;
};

// The protocol of one connection. Takes whole messages and returns the answers, without I/O. Used
// by one thread: the thread of the event loop.
class Session {
 public:
  Session(SessionContext& context, ConnectionId id, Peer peer)
      : context_(context), id_(id), peer_(peer) {}
  ~Session();  // disconnects the clients
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  enum class Verdict : bool { proceed, close };

  // Handles whole messages in their order, and appends the answers. Stops at Verdict::close, and
  // logs the reason.
  [[nodiscard]] Verdict handle(std::span<const std::byte> messages, std::string& answers);

  [[nodiscard]] ConnectionId id() const { return id_; }
  [[nodiscard]] const Peer& peer() const { return peer_; }

 private:
  static constexpr std::uint32_t kMaxBadInARow = 3;

  // Some functions below are noinline. If they were inlined, the loop in handle_all() would take 1
  // ns longer for each message.
  Verdict handle_all(std::span<const std::byte> messages, std::string& answers);
  Verdict handle_one(const wire::Message& message, std::string& answers);
  [[gnu::noinline]] void answer(const wire::Message& question, std::string& answers);
  Verdict handle_report(const wire::Message& report);
  [[gnu::cold, gnu::noinline]] Verdict bad_message(const wire::Message& message,
                                                   wire::MessageFault fault);
  // Sets last_client_ to the client of the pid `reported`, or to null if the peer may not report
  // for this pid. Fails if a new client cannot be started.
  [[gnu::cold, gnu::noinline]] Result<void> find_client(std::int32_t reported);
  [[gnu::noinline]] Change handle_cb(Client& client, const wire::Message& report);

  SessionContext& context_;
  ConnectionId id_;
  Peer peer_;
  std::uint32_t bad_in_a_row_ = 0;
  EndOfConnection end_ = EndOfConnection::closed;
  // State of the current call of handle().
  bool answered_ = false;  // true if a question was answered, so that the responder has a snapshot
  std::uint64_t handled_ = 0;
  std::uint64_t bad_ = 0;

  // The clients by the pid in the messages. The pointer is null if reports for the pid are refused;
  // the refusal is logged when the entry is added.
  boost::unordered_flat_map<std::int32_t, std::shared_ptr<Client>> clients_;
  std::int32_t last_pid_ = -1;
  Client* last_client_ = nullptr;

  // A program whose CBs have not all arrived.
  struct Program {
    std::uint64_t id = 0;
    std::uint32_t device = 0;
    std::vector<ReportedCb> cbs;
  } program_;
};

}  // namespace ttmem::serve
