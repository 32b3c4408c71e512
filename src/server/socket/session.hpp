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
#include "server/socket/client_registry.hpp"
#include "server/socket/event_log.hpp"
#include "server/socket/peer.hpp"
#include "server/socket/responder.hpp"
#include "wire/check.hpp"
#include "wire/message.hpp"

namespace ttmem::server {

// What a server of the socket has counted since it began.
struct SocketStatistics {
  std::uint64_t connections = 0;
  std::uint64_t messages = 0;  // that were understood
  std::uint64_t bad = 0;       // that no client can mean
  std::uint64_t refused = 0;   // for a process that the peer may not speak for
};

// What all sessions of a server share; it outlives them.
struct SessionContext {
  ClientRegistry& clients;
  EventLog& log;
  Responder& responder;
  SocketStatistics& statistics;
  uid_t server_uid;
};

// One connection as the protocol sees it: whole messages in, answers out, no I/O. One thread: that
// of the event loop.
class Session {
 public:
  Session(SessionContext& context, ConnectionId id, Peer peer)
      : context_(context), id_(id), peer_(peer) {}
  ~Session();  // the connection ended
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  enum class Verdict : bool { kGoOn, kClose };

  // Takes whole messages, one behind the other; appends to `answers` what there is to say. After
  // kClose, which the log explains, the rest is not looked at.
  [[nodiscard]] Verdict take(std::span<const std::byte> messages, std::string& answers);

  [[nodiscard]] const Peer& peer() const { return peer_; }

 private:
  // How many bad messages in a row end a connection.
  static constexpr std::uint32_t kPatience = 3;

  // What is never inlined here is kept out of the loop over the messages (1 ns of each).
  Verdict take_all(std::span<const std::byte> messages, std::string& answers);
  Verdict take_one(const wire::Message& message, std::string& answers);
  [[gnu::noinline]] void answer(const wire::Message& question, std::string& answers);
  Verdict take_report(const wire::Message& report);
  [[gnu::cold, gnu::noinline]] Verdict bad_message(const wire::Message& message, wire::Fault fault);
  // Makes the client of a pid in a report the last one; null when the peer may not speak for it.
  [[gnu::cold, gnu::noinline]] Result<void> find_client(std::int32_t told);
  [[gnu::noinline]] Change take_cb(Client& client, const wire::Message& report);

  SessionContext& context_;
  ConnectionId id_;
  Peer peer_;
  std::uint32_t bad_in_a_row_ = 0;
  // Of the messages that are being taken.
  bool asked_ = false;  // the responder has looked
  std::uint64_t understood_ = 0;
  std::uint64_t bad_ = 0;

  // By the pid of the messages; null: refused, and said so.
  boost::unordered_flat_map<std::int32_t, std::shared_ptr<Client>> clients_;
  std::int32_t last_told_ = -1;
  Client* last_client_ = nullptr;

  // The CBs of a program of which more are to come.
  struct Program {
    std::uint64_t id = 0;
    std::uint32_t device = 0;
    std::vector<ToldCb> cbs;
  } program_;
};

}  // namespace ttmem::server
