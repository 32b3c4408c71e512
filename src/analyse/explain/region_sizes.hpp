// SPDX-License-Identifier: Apache-2.0
//
// Computes sizes of the L1_SMALL and trace regions with which both a request and all held buffers
// fit. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyse/explain/device_memory.hpp"

namespace ttmem::explain {

// Returns the smallest l1_small_size with which an L1_SMALL buffer of `request` bytes in each bank
// fits, and L1 buffers and CBs still fit. Returns nullopt if no size suffices, or if the held
// buffers are unknown.
[[nodiscard]] std::optional<std::uint64_t> larger_l1_small(const DeviceMemory& memory,
                                                           std::uint64_t request);
// Returns the largest l1_small_size that leaves `more` additional bytes of each core to L1, and
// still holds all L1_SMALL buffers.
[[nodiscard]] std::optional<std::uint64_t> smaller_l1_small(const DeviceMemory& memory,
                                                            std::uint64_t more);

// Return the same sizes as larger_l1_small() and smaller_l1_small(), but for trace_region_size.
// trace_region_size counts bytes over all DRAM banks. `request` and `more` are bytes of each bank.
[[nodiscard]] std::optional<std::uint64_t> larger_trace_region(const DeviceMemory& memory,
                                                               std::uint64_t request);
[[nodiscard]] std::optional<std::uint64_t> smaller_trace_region(const DeviceMemory& memory,
                                                                std::uint64_t more);
// Returns the trace_region_size for traces of `all_traces` bytes in total, one of which does not
// exist yet. The page size of the new trace is unknown, so the largest page size is used.
[[nodiscard]] std::optional<std::uint64_t> trace_region_for(const DeviceMemory& memory,
                                                            std::uint64_t all_traces);

// Returns for example " (now 32768, of which 2048 are in use)", or an empty text if the size is
// unknown.
[[nodiscard]] std::string l1_small_now(const DeviceMemory& memory);

// Returns for example "trace_region_size=1000 (...)". The text in parentheses says which size
// earlier versions of the runtime expect.
[[nodiscard]] std::string trace_region_setting(std::uint64_t bytes, std::uint64_t channels);

}  // namespace ttmem::explain
