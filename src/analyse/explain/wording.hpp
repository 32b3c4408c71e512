// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analyse/explain/device_memory.hpp"

namespace ttmem::explain {

// "552,960 B": exact, because people compare it with the message.
[[nodiscard]] std::string exact(std::uint64_t bytes);

// "71.0 KiB (72,704 B)": to be read, and to be compared.
[[nodiscard]] std::string sized(std::uint64_t bytes);

// "DRAM", "L1", "L1_SMALL", "trace".
[[nodiscard]] std::string title_of(Kind kind);

// "decoder.0/kv (390.0 KiB in each bank)", "a, b and 3 more (1.20 MiB in each bank)".
[[nodiscard]] std::string listed(std::span<const Holder> holders);

// "Device 0 (wormhole_b0, n150), process 4711 (python3)"
[[nodiscard]] std::string place_of(const DeviceMemory& memory);

}  // namespace ttmem::explain
