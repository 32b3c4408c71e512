// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::bench {

// Returns the CPU nanoseconds that an allocation and its free cost the calling thread with
// TTMEM_TRANSPORT=socket, while a reader takes all messages: the fastest of many short bursts.
// Measures in a child process; call it before anything is tracked in this process. Returns 0 on
// failure.
[[nodiscard]] double socket_pair_ns();

}  // namespace ttmem::bench
