// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/peer.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/process_look.hpp"

namespace ttmem::serve {
namespace {

// Returns the process as /proc describes it, or only the pid and the user if there is no such
// process.
segment::SegmentWriter::Process describe(pid_t pid, uid_t uid) {
  segment::SegmentWriter::Process process;
  process.pid = pid;
  process.uid = uid;
  const auto facts = collector::process_facts(pid);
  if (!facts) return process;
  process.start_time_ticks = facts->start_time_ticks;
  process.uid = facts->uids[0];
  process.name = collector::process_name(pid);
  process.command = collector::process_command(pid);
  process.job = collector::process_job(pid);
  return process;
}

}  // namespace

std::optional<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  return Peer{credentials.pid, credentials.uid};
}

std::optional<pid_t> parse_own_pid(std::string_view status) {
  constexpr std::string_view key = "\nNSpid:";
  const std::size_t at = status.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + key.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_last_of(" \t") + 1, line.size()));
  return parse_number<pid_t>(line);
}

Result<segment::SegmentWriter::Process> process_of(const Peer& peer, std::int32_t reported,
                                                   uid_t server_uid) {
  if (server_uid != 0 && peer.uid != server_uid) {
    return Error{fmt::format(
        "process {} belongs to {} and this server to {}; run `ttmem serve` as root to serve both",
        peer.pid, collector::user_name(peer.uid), collector::user_name(server_uid))};
  }
  // The peer is in a pid namespace that this process does not see. The pid in the peer's message is
  // only shown, because it cannot be looked up here.
  if (peer.pid == 0) {
    segment::SegmentWriter::Process process;
    process.pid = reported;
    process.uid = peer.uid;
    return process;
  }
  const bool itself = reported == 0 || reported == peer.pid ||
                      parse_own_pid(read_text(fmt::format("/proc/{}/status", peer.pid))) ==
                          std::optional<pid_t>(reported);
  if (itself) return describe(peer.pid, peer.uid);
  if (peer.uid == 0) return describe(reported, peer.uid);
  return Error{fmt::format(
      "process {} (user {}) reports for process {}; only root may report for another process",
      peer.pid, collector::user_name(peer.uid), reported)};
}

}  // namespace ttmem::serve
