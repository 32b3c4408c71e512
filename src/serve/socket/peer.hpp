// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "segment/writer/segment_writer.hpp"

namespace ttmem::serve {

// The process at the other end of a connection, as the kernel says, not the messages.
struct Peer {
  pid_t pid = 0;  // in this pid namespace; 0: it is of one that this namespace does not see
  uid_t uid = 0;
};

// Of a connected unix socket; none when the kernel does not say.
[[nodiscard]] std::optional<Peer> peer_of(int socket);

// The process that a message of `peer` with the pid `reported` (0: itself) is about. Fails when the
// peer may not report for it:
//
//  - itself, by its own pid or the one that it has in its container: always, if the server belongs
//    to root or to the same user (`server_uid`), because readers reject the segment otherwise;
//  - any other: root only. It need not exist (any more).
[[nodiscard]] Result<segment::SegmentWriter::Process> process_of(const Peer& peer,
                                                                 std::int32_t reported,
                                                                 uid_t server_uid);

// The last number in the line `NSpid:` of /proc/PID/status: the pid that the process itself sees.
[[nodiscard]] std::optional<pid_t> parse_own_pid(std::string_view status);

}  // namespace ttmem::serve
