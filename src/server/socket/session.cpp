// SPDX-License-Identifier: Apache-2.0
#include "server/socket/session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ttmem::server {
namespace {

using wire::Fault;
using wire::kMessageBytes;
using wire::Message;
using wire::Type;

// What a message is about is fetched from memory while the ones before it are taken.
constexpr std::size_t kAhead = 2;

std::string explain(const Message& message, Fault fault) {
  const wire::Head& head = message.head;
  switch (fault) {
    case Fault::kType:
      return fmt::format("type {} is none of 1 to 12", head.type);
    case Fault::kAnswer:
      return fmt::format("{} is what a server says", name_of(message.type()));
    case Fault::kPid:
      return fmt::format("{} is no pid", head.process_id);
    case Fault::kDevice:
      return fmt::format("device {} cannot be", head.device_id);
    case Fault::kSize:
      return fmt::format("{} bytes are more than any device has", head.size);
    case Fault::kBufferType:
      return fmt::format("buffer type {} is none of 0 to {}", head.buffer_type,
                         wire::kMaxBufferType);
    case Fault::kRole:
      return fmt::format("kernel role {} is none of 0 to {}", head.buffer_type, wire::kMaxRole);
    case Fault::kShort:
      return "there is a second, shorter message in it";
    default:
      return fmt::format("the details of a {} contradict themselves", name_of(message.type()));
  }
}

}  // namespace

Session::~Session() {
  // A client may have been named in two ways, and shall be left once.
  std::vector<std::shared_ptr<Client>> unique;
  for (auto& [told, client] : clients_) {
    if (client == nullptr || std::find(unique.begin(), unique.end(), client) != unique.end()) {
      continue;
    }
    unique.push_back(client);
  }
  clients_.clear();
  for (const std::shared_ptr<Client>& client : unique) context_.clients.leave(client, id_);
}

Session::Verdict Session::take(std::span<const std::byte> messages, std::string& answers) {
  context_.responder.forget();
  context_.clients.look_at_clock();
  asked_ = false;
  const Verdict verdict = take_all(messages, answers);
  context_.statistics.messages += std::exchange(understood_, 0);
  return verdict;
}

Session::Verdict Session::take_all(std::span<const std::byte> messages, std::string& answers) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(messages.data()) % alignof(Message) == 0;
  Message copy;
  for (; messages.size() >= kMessageBytes; messages = messages.subspan(kMessageBytes)) {
    // The bytes that a connection reads are aligned: then a message is looked at where it lies.
    const auto* message = reinterpret_cast<const Message*>(messages.data());
    if (!aligned) {
      std::memcpy(&copy, messages.data(), kMessageBytes);
      message = &copy;
    } else if (last_client_ != nullptr && messages.size() >= (kAhead + 1) * kMessageBytes) {
      last_client_->prefetch(message[kAhead]);
    }
    if (take_one(*message, answers) == Verdict::kClose) return Verdict::kClose;
  }
  return Verdict::kGoOn;
}

Session::Verdict Session::take_one(const Message& message, std::string& answers) {
  const Fault fault = wire::fault_of(message);
  if (fault != Fault::kNone) return bad_message(message, fault);
  bad_in_a_row_ = 0;
  if (!wire::is_question(message.type())) return take_report(message);
  answer(message, answers);
  return Verdict::kGoOn;
}

void Session::answer(const Message& question, std::string& answers) {
  ++understood_;
  asked_ = true;
  const Message answer = context_.responder.answer(question, peer_.pid);
  answers.append(reinterpret_cast<const char*>(&answer), sizeof answer);
}

Session::Verdict Session::take_report(const Message& report) {
  if (report.head.process_id != last_told_) {
    const Result<void> found = find_client(report.head.process_id);
    if (!found) {
      spdlog::error("{}; the connection is closed", found.error().message);
      return Verdict::kClose;
    }
  }
  Client* client = last_client_;
  if (client == nullptr) {
    ++context_.statistics.refused;
    return Verdict::kGoOn;
  }
  ++understood_;
  if (asked_) context_.responder.forget();
  const bool of_program = report.type() == Type::kCbAlloc && report.has_details();
  const Change change = of_program ? take_cb(*client, report) : client->apply(id_, report);
  context_.log.report(report, client->process().pid, change, context_.clients.totals());
  return Verdict::kGoOn;
}

// A program counts once its last CB has come. One that is not complete when another begins, or when
// the connection ends, never was placed.
Change Session::take_cb(Client& client, const Message& report) {
  const wire::AllocationDetails& details = report.allocation;
  const auto device = static_cast<std::uint32_t>(report.head.device_id);
  if (details.cb.index == 0) {
    program_.id = details.cb.program;
    program_.device = device;
    program_.cbs.clear();
  }
  Change waiting;
  waiting.effect = Change::Effect::kWaiting;
  const bool next = program_.id == details.cb.program && program_.device == device &&
                    program_.cbs.size() == details.cb.index;
  if (!next) return waiting;
  if (details.cb.count > 0) {
    ToldCb& cb = program_.cbs.emplace_back();
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

Result<void> Session::find_client(std::int32_t told) {
  auto known = clients_.find(told);
  if (known == clients_.end()) {
    const auto process = process_of(peer_, told, context_.server_uid);
    std::shared_ptr<Client> client;
    if (process) {
      Result<std::shared_ptr<Client>> found = context_.clients.client_of(*process);
      if (!found) return found.error();
      client = std::move(*found);
    } else {
      spdlog::warn("refused: {}", process.error().message);
    }
    known = clients_.emplace(told, std::move(client)).first;
  }
  last_told_ = told;
  last_client_ = known->second.get();
  return {};
}

Session::Verdict Session::bad_message(const Message& message, Fault fault) {
  ++context_.statistics.bad;
  ++bad_;
  const bool enough = ++bad_in_a_row_ >= kPatience;
  // The first few, then at every doubling: a client that is always half right fills no disk.
  if (enough || bad_ < kPatience || std::has_single_bit(bad_)) {
    spdlog::warn("left out a message of process {}: {} ({} bad so far on this connection)",
                 peer_.pid, explain(message, fault), bad_);
  }
  if (!enough) return Verdict::kGoOn;
  spdlog::error(
      "closed the connection of process {}: {} bad messages in a row; an old client, whose "
      "messages "
      "are shorter than {} bytes, looks like this: build it against this version",
      peer_.pid, kPatience, kMessageBytes);
  return Verdict::kClose;
}

}  // namespace ttmem::server
