// SPDX-License-Identifier: Apache-2.0
#include "server/socket/client_registry.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "server/socket/event_log.hpp"

namespace ttmem::server {
namespace {

void log_leftovers(const Client& client) {
  const auto& process = client.process();
  const std::string who = fmt::format("[PID {}] {} ended", process.pid,
                                      process.name.empty() ? "the client" : process.name);
  const std::size_t holdings = client.holdings();
  if (holdings == 0) {
    spdlog::info("{} and had freed everything", who);
    return;
  }
  for (const auto& [device, bytes] : client.held()) {
    const std::string kinds = text_of_kinds(bytes);
    if (!kinds.empty()) spdlog::info("{} and left on device {}: {}", who, device, kinds);
  }
  spdlog::info("{} and left {} allocation{} in all", who, holdings, holdings == 1 ? "" : "s");
}

}  // namespace

Result<std::shared_ptr<Client>> ClientRegistry::client_of(
    const segment::SegmentWriter::Process& process, ConnectionId alone) {
  const Key key{process.pid, process.start_time_ticks, alone};
  const auto known = clients_.find(key);
  std::shared_ptr<Client> shared = known == clients_.end() ? nullptr : known->second.lock();
  if (shared != nullptr) return shared;
  Result<std::unique_ptr<Client>> started = Client::start(directory_, process, totals_, &now_ns_);
  if (!started) return started.error();
  shared = std::move(*started);
  clients_.insert_or_assign(key, shared);
  return shared;
}

void ClientRegistry::disconnect(const std::shared_ptr<Client>& client, ConnectionId connection) {
  update_clock();
  const bool last = client.use_count() == 1;
  if (!last) return client->remove_connection(connection);
  std::erase_if(clients_, [&](const auto& known) { return known.second.lock() == client; });
  if (!stopping_) log_leftovers(*client);
  client->finish();
}

}  // namespace ttmem::server
