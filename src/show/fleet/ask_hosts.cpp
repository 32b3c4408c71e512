// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/ask_hosts.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <utility>

#include "show/fleet/host_of.hpp"
#include "show/fleet/servers.hpp"

namespace ttmem::fleet {
namespace {

// Returns the maximum number of connections. Each connection is an open file, and the program needs
// some files for itself.
std::size_t connections_at_once() {
  constexpr rlim_t kOwn = 64;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return HostAsker::kMaxAtOnce;
  const rlim_t left = limit.rlim_cur > kOwn ? limit.rlim_cur - kOwn : 1;
  return static_cast<std::size_t>(std::min<rlim_t>(left, HostAsker::kMaxAtOnce));
}

// Shortens the reason to one line of a table. If the answer was too large, replaces the next step
// by a step that helps users of `ttmem fleet`.
void shorten_fault(remote::Fault& fault) {
  fault.reason = brief(fault.reason);
  if (fault.kind != remote::Fault::Kind::too_large) return;
  fault.next_step = "look at it alone with `ttmem --server HOST`, which reads larger answers";
}

}  // namespace

HostAsker::HostAsker(const std::vector<remote::Address>& servers, remote::ClientOptions options)
    : client_(std::move(options)), at_once_(connections_at_once()) {
  for (const remote::Address& address : servers) servers_.push_back({address});
}

std::vector<Host> HostAsker::ask() {
  next_ = 0;
  ask_more();
  client_.run();
  std::vector<Host> hosts;
  for (Server& server : servers_) hosts.push_back(std::move(server.host));
  return hosts;
}

void HostAsker::ask_more() {
  // ask() may get an answer at once, and then calls ask_more() again. Such an inner call returns
  // here.
  if (std::exchange(asking_, true)) return;
  while (next_ < servers_.size() && waiting_ < at_once_) ask(servers_[next_++]);
  asking_ = false;
}

void HostAsker::ask(Server& server) {
  ++waiting_;
  client_.get(server.address, server.mirror.target(), kMaxAnswerBytes,
              [this, &server](const remote::Answer<std::string>& answer) {
                --waiting_;
                take(answer, server);
                ask_more();
              });
}

void HostAsker::take(const remote::Answer<std::string>& answer, Server& server) {
  server.host = {};
  server.host.address = shown(server.address);
  if (answer.failed) {
    server.host.fault = answer.fault;
  } else if (auto fault = server.mirror.take(answer.value)) {
    server.host.fault = std::move(*fault);
  } else {
    server.host = host_of(shown(server.address), server.mirror.snapshot(), server.mirror.died());
  }
  if (server.host.fault) shorten_fault(*server.host.fault);
}

}  // namespace ttmem::fleet
