// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/client_registry.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "serve/socket/event_log.hpp"

namespace ttmem::serve {
namespace {

// Returns for example "[PID 4711] python3".
std::string name_of(const Client& client) {
  const auto& process = client.process();
  return fmt::format("[PID {}] {}", process.pid,
                     process.name.empty() ? "the client" : process.name);
}

std::string allocations_of(const Client& client) {
  return fmt::format("{} allocation{}", client.holdings(), client.holdings() == 1 ? "" : "s");
}

void log_clean_end(const Client& client) {
  if (client.holdings() == 0) {
    spdlog::info("{} closed its last connection and holds nothing", name_of(client));
    return;
  }
  for (const auto& [device, bytes] : client.held()) {
    const std::string kinds = text_of_kinds(bytes);
    if (!kinds.empty()) {
      spdlog::info("{} exited and left on device {}: {}", name_of(client), device, kinds);
    }
  }
  spdlog::info("{} exited and left {} in all", name_of(client), allocations_of(client));
}

// Returns true if the start time of the process is unknown: the process has ended, or Linux does
// not show it in this pid namespace.
bool is_gone(const segment::SegmentWriter::Process& process) {
  return process.start_time_ticks == 0;
}

}  // namespace

Result<std::shared_ptr<Client>> ClientRegistry::connect(
    const segment::SegmentWriter::Process& process, ConnectionId connection, bool alone) {
  const Key key{process.pid, process.start_time_ticks, alone ? connection : 0};
  auto known = clients_.find(key);
  if (known == clients_.end() && is_gone(process) && !alone) known = find_started(process.pid);
  if (known == clients_.end()) {
    Result<std::unique_ptr<Client>> started = Client::start(directory_, process, totals_, &now_ns_);
    if (!started) return started.error();
    known = clients_.emplace(key, Known{std::move(*started), nullptr}).first;
    restore_libraries(key, *known->second.client);
  }
  known->second.watch.reset();
  known->second.client->add_connection(connection);
  return known->second.client;
}

void ClientRegistry::disconnect(const std::shared_ptr<Client>& client, ConnectionId connection,
                                EndOfConnection end) {
  update_clock();
  client->remove_connection(connection, end);
  if (client->is_connected()) return;
  const auto known = std::find_if(clients_.begin(), clients_.end(),
                                  [&](const auto& entry) { return entry.second.client == client; });
  if (!client->holds_anything()) {
    if (!stopping_) log_clean_end(*client);
    return remove(known);
  }
  if (stopping_) {
    // Does not leave the segment of a living process as evidence, because the process will report
    // to the next server.
    const bool ended = !is_gone(client->process()) && has_ended(client->process());
    return ended ? this->end(known) : remove(known);
  }
  if (!is_gone(client->process())) return wait_for_end(known);
  const bool alone = std::get<ConnectionId>(known->first) != 0;
  alone ? this->end(known) : end_later(known->first);
}

// Returns the client with this pid whose process started last. Used if Linux no longer reports the
// start time of the process that connects.
ClientRegistry::Clients::iterator ClientRegistry::find_started(pid_t pid) {
  const auto after = clients_.lower_bound(Key{pid + 1, 0, 0});
  if (after == clients_.begin()) return clients_.end();
  const auto last = std::prev(after);
  const bool found =
      std::get<pid_t>(last->first) == pid && !is_gone(last->second.client->process());
  return found ? last : clients_.end();
}

void ClientRegistry::wait_for_end(Clients::iterator known) {
  Client& client = *known->second.client;
  known->second.watch = ProcessWatch::start(loop_, client.process(),
                                            [this, key = known->first] { process_ended(key); });
  if (known->second.watch == nullptr) return end_later(known->first);
  spdlog::info("{} closed its last connection, has not ended and keeps {}", name_of(client),
               allocations_of(client));
}

// Lets the event loop call process_ended() later. process_ended() reads other connections, and the
// caller is just handling the end of a connection.
void ClientRegistry::end_later(const Key& key) {
  boost::asio::post(loop_, [this, key] { process_ended(key); });
}

void ClientRegistry::process_ended(const Key& key) {
  if (read_rest_) read_rest_(std::get<pid_t>(key));
  const auto known = clients_.find(key);
  if (known == clients_.end() || known->second.client->is_connected()) return;
  if (known->second.client->holds_anything()) return end(known);
  log_clean_end(*known->second.client);
  remove(known);
}

// Leaves the segment of a process that ended as evidence: the reaper finds the segment and logs
// what the process held. Removes the segment if too many segments are left as evidence already.
void ClientRegistry::end(Clients::iterator known) {
  Client& client = *known->second.client;
  if (!may_leave_evidence()) {
    complaints_.warn(fmt::format(
        "{} ended without freeing what it held: no more evidence is kept, {} others wait for "
        "`ttmem clean`",
        name_of(client), evidence_.size()));
    return remove(known);
  }
  evidence_.push_back(client.segment_path());
  client.leave_as_evidence();
  clients_.erase(known);
}

void ClientRegistry::remove(Clients::iterator known) {
  const Client& client = *known->second.client;
  if (!client.libraries().empty()) {
    past_libraries_.emplace_back(known->first, client.libraries());
    if (past_libraries_.size() > kMaxPastLibraries) past_libraries_.pop_front();
  }
  known->second.client->finish();
  clients_.erase(known);
}

// Gives a new client the library connections of an earlier client of the same process. If the
// process has ended, its start time is unknown, and the process is recognized by its pid alone.
void ClientRegistry::restore_libraries(const Key& key, Client& client) {
  const auto found =
      std::find_if(past_libraries_.rbegin(), past_libraries_.rend(), [&](const auto& past) {
        if (past.first == key) return true;
        return is_gone(client.process()) && std::get<ConnectionId>(key) == 0 &&
               std::get<ConnectionId>(past.first) == 0 &&
               std::get<pid_t>(past.first) == std::get<pid_t>(key);
      });
  if (found == past_libraries_.rend()) return;
  client.restore_libraries(std::move(found->second));
  past_libraries_.erase(std::prev(found.base()));
}

bool ClientRegistry::may_leave_evidence() {
  if (evidence_.size() < kMaxEvidence) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - evidence_checked_ < std::chrono::milliseconds(100)) return false;
  evidence_checked_ = now;
  std::erase_if(evidence_,
                [](const std::string& path) { return ::access(path.c_str(), F_OK) != 0; });
  return evidence_.size() < kMaxEvidence;
}

void ClientRegistry::stop() {
  stopping_ = true;
  for (auto known = clients_.begin(); known != clients_.end();) {
    const auto next = std::next(known);
    if (!known->second.client->is_connected()) remove(known);
    known = next;
  }
}

}  // namespace ttmem::serve
