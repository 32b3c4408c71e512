// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::bench {

// Returns the CPU nanoseconds that an allocation and its free cost the calling thread with
// TTMEM_TRANSPORT=socket, while a reader receives all messages. Measures many short bursts and
// returns the value of the fastest burst. The measurement runs in a child process. Call this
// function before this process tracks anything. Returns 0 on failure.
[[nodiscard]] double socket_pair_ns();

}  // namespace ttmem::bench
