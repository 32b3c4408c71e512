// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ttmem::fuzz {

// A segment is mostly zeros: 16 KiB of header and 64 KiB a chunk, of which some hundred bytes
// matter. A fuzzer does better with those alone:
//
//   512 bytes   Header
//   1 byte      number of chunks that follow
//   each chunk: 1 byte kind, 2 bytes length (little endian), that many bytes; zeros up to its end
//
// Bytes that are missing at the end are zeros.
[[nodiscard]] std::vector<std::byte> compact(std::span<const std::byte> segment);
[[nodiscard]] std::vector<std::byte> expand(std::span<const std::byte> compact_bytes);

}  // namespace ttmem::fuzz
