// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ttmem::fuzz {

// The compact form of a segment. A segment has 16 KiB of header and 64 KiB per chunk, mostly zeros;
// some hundred bytes matter. A fuzzer finds more when it gets only these bytes:
//
//   512 bytes   Header
//   1 byte      number of chunks that follow
//   each chunk: 1 byte kind, 2 bytes length (little-endian), then `length` bytes of the chunk
//
// All missing bytes are zeros: at the end of a chunk, and at the end of the compact form.
[[nodiscard]] std::vector<std::byte> compact(std::span<const std::byte> segment);
[[nodiscard]] std::vector<std::byte> expand(std::span<const std::byte> compact_bytes);

}  // namespace ttmem::fuzz
