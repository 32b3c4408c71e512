// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ttmem::fuzz {

// The compact form of a segment. A segment has a header of 16 KiB and chunks of 64 KiB. Only some
// hundred of these bytes matter. Most other bytes are zeros. A fuzzer finds more faults if it
// changes only the bytes of the compact form:
//
//   512 bytes   Header
//   1 byte      number of chunks that follow
//   each chunk: 1 byte kind, 2 bytes length (little-endian), then `length` bytes of the chunk
//
// expand() adds zeros for the bytes that are missing in a chunk or at the end of the compact form.
[[nodiscard]] std::vector<std::byte> compact(std::span<const std::byte> segment);
[[nodiscard]] std::vector<std::byte> expand(std::span<const std::byte> compact_bytes);

}  // namespace ttmem::fuzz
