// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::bench {

// What an allocation and its free cost the calling thread with TTMEM_TRANSPORT=socket while a
// reader takes everything in, in nanoseconds of CPU time: the fastest of many short bursts. In a
// process of its own; to be called before anything is tracked in this one. 0 when it failed.
[[nodiscard]] double socket_pair_ns();

}  // namespace ttmem::bench
