// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::bench {

// Returns the CPU nanoseconds that an allocation and its free cost the calling thread with
// TTMEM_TRANSPORT=socket, while a reader takes all messages. The value is that of the fastest of
// many short bursts. Measures in a child process, so it must be called before this process tracks
// anything. Returns 0 on failure.
[[nodiscard]] double socket_pair_ns();

}  // namespace ttmem::bench
