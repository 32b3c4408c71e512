// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analyse/explain/device_memory.hpp"

namespace ttmem::explain {

// Formats a size as "552,960 B": exact, because people compare it with the message.
[[nodiscard]] std::string exact(std::uint64_t bytes);

// Formats a size as "71.0 KiB (72,704 B)": rounded for reading, exact for comparing. Sizes below 1
// KiB are exact only.
[[nodiscard]] std::string sized(std::uint64_t bytes);

// Returns "DRAM", "L1", "L1_SMALL" or "trace".
[[nodiscard]] std::string title_of(Kind kind);

// Formats holders as "decoder.0/kv (390.0 KiB in each bank)" or "a, b and 3 more (1.20 MiB in each
// bank)".
[[nodiscard]] std::string listed(std::span<const BufferHolder> holders);

// Returns for example "Device 0 (wormhole_b0, n150), process 4711 (python3)".
[[nodiscard]] std::string place_of(const DeviceMemory& memory);

}  // namespace ttmem::explain
