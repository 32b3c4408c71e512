// SPDX-License-Identifier: Apache-2.0
//
// What the sizes of the L1_SMALL and trace regions would have to be, and whether what is held still
// fits then. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyse/explain/device_memory.hpp"

namespace ttmem::explain {

// The smallest l1_small_size with which an L1_SMALL buffer of so many bytes in each bank fits, and
// L1 buffers and CBs still do. None: there is no such size, or what is held is not known.
[[nodiscard]] std::optional<std::uint64_t> larger_l1_small(const DeviceMemory& memory,
                                                           std::uint64_t request);
// The largest one that leaves `more` bytes of each core to L1, and still holds what is there.
[[nodiscard]] std::optional<std::uint64_t> smaller_l1_small(const DeviceMemory& memory,
                                                            std::uint64_t more);

// The same for trace_region_size, in bytes over all DRAM banks. `request` and `more` are bytes of
// each bank.
[[nodiscard]] std::optional<std::uint64_t> larger_trace_region(const DeviceMemory& memory,
                                                               std::uint64_t request);
[[nodiscard]] std::optional<std::uint64_t> smaller_trace_region(const DeviceMemory& memory,
                                                                std::uint64_t more);
// The same when all traces together, with one that is not there yet, have so many bytes: the size
// of its pages is not known, so that it is tried with the largest.
[[nodiscard]] std::optional<std::uint64_t> trace_region_for(const DeviceMemory& memory,
                                                            std::uint64_t all_traces);

// " (now 32768, of which 2048 are in use)"; empty: unknown.
[[nodiscard]] std::string l1_small_now(const DeviceMemory& memory);

// "trace_region_size=1000 (...)": with what it meant in earlier versions of the runtime.
[[nodiscard]] std::string trace_region_setting(std::uint64_t bytes, std::uint64_t channels);

}  // namespace ttmem::explain
