// SPDX-License-Identifier: Apache-2.0
//
// Sessions of an allocation server without a socket. The segments are in a directory of the
// fixture.
#pragma once

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "read/collector/collector.hpp"
#include "serve/socket/session.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::serve {

class SessionFixture {
 public:
  SessionFixture()
      : log_(std::make_shared<spdlog::logger>(
            "events", std::make_shared<spdlog::sinks::ostream_sink_st>(lines_))) {
    log_sink_pattern();
  }

  std::unique_ptr<Session> connect(ConnectionId id, pid_t pid = ::getpid()) {
    return std::make_unique<Session>(context_, id, Peer{pid, ::geteuid()});
  }

  [[nodiscard]] model::Snapshot snapshot() const { return collector::collect(directory_.path()); }
  // Returns the first device. If there is no device, returns a device whose fields are zero.
  [[nodiscard]] model::Device device() const {
    const model::Snapshot now = snapshot();
    return now.devices.empty() ? model::Device{} : now.devices.front();
  }
  [[nodiscard]] std::string log() const { return lines_.str(); }
  [[nodiscard]] const SocketStatistics& statistics() const { return statistics_; }
  [[nodiscard]] ClientRegistry& clients() { return clients_; }
  [[nodiscard]] boost::asio::io_context& loop() { return loop_; }
  [[nodiscard]] const std::string& directory() const { return directory_.path(); }

 private:
  void log_sink_pattern() { log_->set_pattern("%v"); }

  TemporaryDirectory directory_;
  std::ostringstream lines_;
  std::shared_ptr<spdlog::logger> log_;
  boost::asio::io_context loop_;
  Complaints complaints_;
  ClientRegistry clients_{loop_, directory_.path(), complaints_};
  EventLog events_{log_};
  model::Snapshot latest_;
  Responder::GetSnapshot get_snapshot_ = [this]() -> const model::Snapshot& {
    latest_ = collector::collect(directory_.path());
    return latest_;
  };
  Responder responder_{get_snapshot_, get_snapshot_};
  SocketStatistics statistics_;
  SessionContext context_{clients_, events_, responder_, statistics_, complaints_, ::geteuid()};
};

inline wire::Message message(wire::MessageType type, std::uint64_t id = 0, std::uint64_t size = 0,
                             std::uint8_t buffer_type = 0, std::int32_t device = 0) {
  wire::Message result{};
  result.head.type = static_cast<std::uint8_t>(type);
  result.head.device_id = device;
  result.head.size = size;
  result.head.buffer_type = buffer_type;
  result.head.process_id = ::getpid();
  result.head.buffer_id = id;
  return result;
}

inline Session::Verdict say(Session& session, const wire::Message& one,
                            std::string* answers = nullptr) {
  std::string ignored;
  return session.handle(std::as_bytes(std::span(&one, 1)), answers != nullptr ? *answers : ignored);
}

}  // namespace ttmem::serve
