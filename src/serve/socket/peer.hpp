// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "segment/writer/segment_writer.hpp"

namespace ttmem::serve {

// The process at the other end of a connection, as Linux reports it, independent of the messages.
struct Peer {
  pid_t pid = 0;  // in this pid namespace; 0: not visible in this pid namespace
  uid_t uid = 0;
};

// Returns the peer of a connected Unix socket, or nullopt if Linux does not report the peer.
[[nodiscard]] std::optional<Peer> peer_of(int socket);

// Returns the process that a message of `peer` is about. `reported` is the pid in the message; 0
// means the peer itself. Fails if the peer may not report for the process:
//
//   - A peer may report for itself, by its pid in this pid namespace or in its container, if the
//     server belongs to root or to the same user (`server_uid`). If the server belonged to another
//     user, readers would reject the segment.
//   - Only root may report for another process, which may have ended.
[[nodiscard]] Result<segment::SegmentWriter::Process> process_of(const Peer& peer,
                                                                 std::int32_t reported,
                                                                 uid_t server_uid);

// Returns the last number in the line `NSpid:` of /proc/PID/status: the pid in the process's own
// pid namespace.
[[nodiscard]] std::optional<pid_t> parse_own_pid(std::string_view status);

}  // namespace ttmem::serve
