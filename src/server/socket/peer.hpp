// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "segment/writer/segment_writer.hpp"

namespace ttmem::server {

// Who is at the other end of a connection: what the kernel says, not the messages.
struct Peer {
  pid_t pid = 0;  // in this pid namespace; 0: it is of one that this namespace does not see
  uid_t uid = 0;
};

// Of a connected unix socket; none when the kernel does not say.
[[nodiscard]] std::optional<Peer> peer_of(int socket);

// The process that a message of `peer` speaks for, when it names `told` (0: itself). Fails when the
// peer may not speak for it:
//
//  - itself, by its own number or the one that it has in its container: always, if the segment
//    that a server of `server_uid` keeps for it can be believed: root's server, or its own user's;
//  - any other: root only. A process that is not here (any more) is taken as told.
[[nodiscard]] Result<segment::SegmentWriter::Process> process_of(const Peer& peer,
                                                                 std::int32_t told,
                                                                 uid_t server_uid);

// The innermost number of the line `NSpid:` of /proc/PID/status: what the process calls itself.
[[nodiscard]] std::optional<pid_t> parse_own_pid(std::string_view status);

}  // namespace ttmem::server
