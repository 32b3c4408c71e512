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
//   each chunk: 1 byte kind, 2 bytes length (little-endian), that many bytes; zeros up to its end
//
// Missing bytes at the end are zeros.
[[nodiscard]] std::vector<std::byte> compact(std::span<const std::byte> segment);
[[nodiscard]] std::vector<std::byte> expand(std::span<const std::byte> compact_bytes);

}  // namespace ttmem::fuzz
