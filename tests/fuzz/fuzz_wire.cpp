// SPDX-License-Identifier: Apache-2.0
//
// Handles messages as the server does: decodes and checks them, updates the clients with their
// trackers and segments, and answers. The first byte of an input chooses the format of the rest:
//
// even  a stream of bytes for one connection
//   odd   records of 16 bytes, each expanded to one message that is almost valid (see expand())
//
// Two connections of root take turns. They share buffer numbers, report for other processes, and
// end while they hold memory.
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "serve/socket/session.hpp"

namespace ttmem::fuzz {
namespace {

using serve::Session;
using wire::Message;

constexpr std::size_t kRecordBytes = 16;
constexpr std::size_t kMaxMessages = 256;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// A directory that the destructor removes. The directory stays after a crash.
class Directory {
 public:
  Directory() {
    const bool shared = ::access("/dev/shm", W_OK) == 0;
    path_ = (shared ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
            "ttmem-fuzz-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Removes all files, which are the segments of clients that ended while they held memory. Fails
  // if there are more than `at_most` files.
  void clear(std::size_t at_most) const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      std::filesystem::remove(file);
      ++count;
    }
    require(count <= at_most, "clients that end do not fill the directory");
  }

 private:
  std::string path_;
};

model::Snapshot some_snapshot() {
  model::Snapshot snapshot;
  model::Device& device = snapshot.devices.emplace_back();
  device.kinds[Kind::dram].set(&KindFigures::used_bytes, 4096);
  device.processes.emplace_back().pid = 1;
  model::Allocation& allocation = snapshot.allocations.emplace_back();
  allocation.kind = Kind::kernel;
  return snapshot;
}

struct Server {
  Server() { spdlog::set_default_logger(std::make_shared<spdlog::logger>("server", sink)); }

  spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::null_sink_st>();
  Directory directory;
  boost::asio::io_context loop;
  serve::Complaints complaints;
  serve::ClientRegistry clients{loop, directory.path(), complaints};
  serve::EventLog log{std::make_shared<spdlog::logger>("events", sink)};
  model::Snapshot snapshot = some_snapshot();
  serve::Responder::GetSnapshot get_snapshot = [this]() -> const model::Snapshot& {
    return snapshot;
  };
  serve::Responder responder{get_snapshot, get_snapshot};
  serve::SocketStatistics statistics;
  serve::SessionContext context{clients, log, responder, statistics, complaints, 0};
};

Message expand(std::span<const std::uint8_t, kRecordBytes> from) {
  Message message{};
  message.head.type = from[0] % 14;
  message.head.device_id = from[1] % 5 == 4 ? static_cast<std::int8_t>(from[1]) : from[1] % 5;
  message.head.size = std::uint64_t{from[2]} << (from[3] % 56);
  message.head.buffer_type = from[4] % 8;
  message.head.process_id = from[5] % 4 == 0 ? 0 : 4194304 - from[5] % 4;
  message.head.buffer_id = from[6] % 16;
  if (from[7] % 2 == 0) return message;
  message.answer.mark = wire::kDetailsMark;
  if (message.type() == wire::MessageType::device_info_response) {
    message.device.is_available = from[8] % 6;
    message.device.grid_x = from[9] % 20;
    message.device.grid_y = from[10] % 20;
    message.device.l1_bytes_per_core = std::uint32_t{from[11]} << (from[12] % 25);
    message.device.dram_channels = from[13];
    message.device.events_dropped = from[14];
    std::memset(message.device.arch, from[15], sizeof message.device.arch);
    return message;
  }
  message.allocation.address = std::uint64_t{from[8]} << (from[9] % 40);
  message.allocation.bytes_per_bank = std::uint64_t{from[10]} << (from[11] % 50);
  message.allocation.flags = from[12] % 16;
  message.allocation.banks = from[13];
  std::memset(message.allocation.cores, from[13], sizeof message.allocation.cores);
  std::memset(message.allocation.label, from[14], sizeof message.allocation.label);
  if (message.type() == wire::MessageType::cb_alloc ||
      message.type() == wire::MessageType::cb_free) {
    message.allocation.cb.program = from[14] % 8;
    message.allocation.cb.index = from[15] % 4;
    message.allocation.cb.count = from[15] / 4 % 5;
  }
  return message;
}

class Run {
 public:
  explicit Run(Server& server) : server_(server) {
    for (std::size_t i = 0; i < sessions_.size(); ++i) reconnect(i);
  }

  void take(std::size_t which, std::span<const std::byte> bytes) {
    std::string answers;
    const auto verdict = sessions_[which]->handle(bytes, answers);
    require(answers.size() % sizeof(Message) == 0, "answers are whole messages");
    if (verdict == Session::Verdict::close) reconnect(which);
  }
  void reconnect(std::size_t which) {
    sessions_[which].reset();
    sessions_[which] =
        std::make_unique<Session>(server_.context, ++connections_, serve::Peer{::getpid(), 0});
  }
  void end() {
    server_.clients.stop();
    for (auto& session : sessions_) session.reset();
    server_.loop.restart();
    server_.loop.poll();
    require(server_.clients.size() == 0, "a server that stops keeps no clients");
    server_.directory.clear(serve::ClientRegistry::kMaxEvidence);
    for (std::uint32_t device = 0; device <= wire::kMaxDeviceId; ++device) {
      for (const Kind kind : kAllKinds) {
        require(server_.clients.totals().get(device, kind) == 0, "nobody holds nothing");
      }
    }
  }

 private:
  Server& server_;
  serve::ConnectionId connections_ = 0;
  std::array<std::unique_ptr<Session>, 2> sessions_;
};

}  // namespace

void run(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  Server server;
  Run run(server);
  const bool raw = input[0] % 2 == 0;
  input = input.subspan(1);
  if (raw) run.take(0, std::as_bytes(input));
  for (std::size_t i = 0; !raw && i < kMaxMessages && input.size() >= kRecordBytes; ++i) {
    const Message message = expand(input.first<kRecordBytes>());
    const std::size_t which = input[5] / 4 % 2;
    run.take(which, std::as_bytes(std::span(&message, 1)));
    if (input[7] >= 250) run.reconnect(which);
    input = input.subspan(kRecordBytes);
  }
  run.end();
}

}  // namespace ttmem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ttmem::fuzz::run(std::span(data, size));
  return 0;
}
