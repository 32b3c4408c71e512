// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ttmem::serve {
namespace {

using wire::kMessageBytes;
using wire::Message;
using wire::MessageFault;
using wire::MessageType;

// The number of messages between the prefetch of a holding and its use.
constexpr std::size_t kAhead = 2;

std::string explain(const Message& message, MessageFault fault) {
  const wire::Head& head = message.head;
  switch (fault) {
    case MessageFault::type:
      return fmt::format("type {} is outside 1 to 12", head.type);
    case MessageFault::answer:
      return fmt::format("only a server may send {}", name_of(message.type()));
    case MessageFault::pid:
      return fmt::format("pid {} is outside 0 to {}", head.process_id, wire::kMaxPid);
    case MessageFault::device:
      return fmt::format("device {} is outside 0 to {}", head.device_id, wire::kMaxDeviceId);
    case MessageFault::size:
      return fmt::format("{} bytes are more than any device has",
                         head.size > kMaxBytes ? head.size : message.allocation.bytes_per_bank);
    case MessageFault::buffer_type:
      return fmt::format("buffer type {} is outside 0 to {}", head.buffer_type,
                         wire::kMaxBufferType);
    case MessageFault::role:
      return fmt::format("kernel role {} is outside 0 to {}", head.buffer_type, wire::kMaxRole);
    case MessageFault::too_short:
      return "it contains a second, shorter message";
    default:
      return fmt::format("the details of a {} contradict themselves", name_of(message.type()));
  }
}

}  // namespace

Session::~Session() {
  // Collects each client once, because a client must be disconnected only once. The map may have a
  // client under two pids.
  std::vector<std::shared_ptr<Client>> unique;
  for (auto& [reported, client] : clients_) {
    if (client == nullptr || std::find(unique.begin(), unique.end(), client) != unique.end()) {
      continue;
    }
    unique.push_back(client);
  }
  clients_.clear();
  for (const std::shared_ptr<Client>& client : unique) {
    context_.clients.disconnect(client, id_, end_);
  }
}

Session::Verdict Session::handle(std::span<const std::byte> messages, std::string& answers) {
  context_.responder.forget();
  context_.clients.update_clock();
  answered_ = false;
  // If the same copy of libttmem has a newer connection, closes this connection. libttmem reports
  // all its holdings again over the newer connection.
  if (last_client_ != nullptr && last_client_->is_replaced(id_)) return Verdict::close;
  const Verdict verdict = handle_all(messages, answers);
  context_.statistics.messages += std::exchange(handled_, 0);
  return verdict;
}

Session::Verdict Session::handle_all(std::span<const std::byte> messages, std::string& answers) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(messages.data()) % alignof(Message) == 0;
  Message copy;
  for (; messages.size() >= kMessageBytes; messages = messages.subspan(kMessageBytes)) {
    // Reads a message in place if the buffer is aligned. Otherwise copies the message first.
    const auto* message = reinterpret_cast<const Message*>(messages.data());
    if (!aligned) {
      std::memcpy(&copy, messages.data(), kMessageBytes);
      message = &copy;
    } else if (last_client_ != nullptr && messages.size() >= (kAhead + 1) * kMessageBytes) {
      last_client_->prefetch(message[kAhead]);
    }
    if (handle_one(*message, answers) == Verdict::close) return Verdict::close;
  }
  return Verdict::proceed;
}

Session::Verdict Session::handle_one(const Message& message, std::string& answers) {
  const MessageFault fault = wire::fault_of(message);
  if (fault != MessageFault::none) return bad_message(message, fault);
  bad_in_a_row_ = 0;
  if (!wire::is_question(message.type())) return handle_report(message);
  answer(message, answers);
  return Verdict::proceed;
}

void Session::answer(const Message& question, std::string& answers) {
  ++handled_;
  answered_ = true;
  const Message answer = context_.responder.answer(question, peer_.pid);
  answers.append(reinterpret_cast<const char*>(&answer), sizeof answer);
}

Session::Verdict Session::handle_report(const Message& report) {
  if (report.head.process_id != last_pid_) {
    const Result<void> found = find_client(report.head.process_id);
    if (!found) {
      context_.complaints.error(found.error().message + "; the connection is closed");
      return Verdict::close;
    }
  }
  Client* client = last_client_;
  if (client == nullptr) {
    ++context_.statistics.refused;
    return Verdict::proceed;
  }
  ++handled_;
  if (answered_) context_.responder.forget();
  const bool of_program = report.type() == MessageType::cb_alloc && report.has_details();
  const Change change = of_program ? handle_cb(*client, report) : client->apply(id_, report);
  context_.log.report(report, client->process().pid, change, context_.clients.totals());
  const bool out_of_date = change.effect == Change::Effect::noted && client->is_replaced(id_);
  return out_of_date ? Verdict::close : Verdict::proceed;
}

// Places a program when its last CB arrives. Drops an incomplete program when another program
// begins or the connection ends.
Change Session::handle_cb(Client& client, const Message& report) {
  const wire::ReportDetails& details = report.allocation;
  const auto device = static_cast<std::uint32_t>(report.head.device_id);
  if (details.cb.index == 0) {
    program_.id = details.cb.program;
    program_.device = device;
    program_.cbs.clear();
  }
  Change waiting;
  waiting.effect = Change::Effect::waiting;
  const bool next = program_.id == details.cb.program && program_.device == device &&
                    program_.cbs.size() == details.cb.index;
  if (!next) return waiting;
  if (details.cb.count > 0) {
    ReportedCb& cb = program_.cbs.emplace_back();
    cb.address = details.address;
    cb.bytes = details.bytes_per_bank;
    cb.flags = details.flags;
    std::copy(std::begin(details.cores), std::end(details.cores), cb.cores.words.begin());
  }
  if (program_.cbs.size() < details.cb.count) return waiting;
  const Change change = client.place(id_, device, program_.id, program_.cbs);
  program_.cbs.clear();
  return change;
}

Result<void> Session::find_client(std::int32_t reported) {
  auto known = clients_.find(reported);
  if (known == clients_.end()) {
    const auto process = process_of(peer_, reported, context_.server_uid);
    std::shared_ptr<Client> client;
    if (process) {
      Result<std::shared_ptr<Client>> found =
          context_.clients.connect(*process, id_, peer_.pid == 0);
      if (!found) return found.error();
      client = std::move(*found);
    } else {
      context_.complaints.warn("refused: " + process.error().message);
    }
    known = clients_.emplace(reported, std::move(client)).first;
  }
  last_pid_ = reported;
  last_client_ = known->second.get();
  return {};
}

Session::Verdict Session::bad_message(const Message& message, MessageFault fault) {
  ++context_.statistics.bad;
  ++bad_;
  const bool enough = ++bad_in_a_row_ >= kMaxBadInARow;
  // Logs the first bad messages, and then only the 4th, 8th, 16th and so on, so that a bad client
  // does not fill the disk.
  if (enough || bad_ < kMaxBadInARow || std::has_single_bit(bad_)) {
    context_.complaints.warn(
        fmt::format("ignored a message of process {}: {} ({} bad so far on this connection)",
                    peer_.pid, explain(message, fault), bad_));
  }
  if (!enough) return Verdict::proceed;
  end_ = EndOfConnection::refused;
  context_.complaints.error(fmt::format(
      "closed the connection of process {}: {} bad messages in a row; if it is an old client, "
      "whose messages are shorter than {} bytes, build it against this version",
      peer_.pid, kMaxBadInARow, kMessageBytes));
  return Verdict::close;
}

}  // namespace ttmem::serve
