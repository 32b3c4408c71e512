// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::segment {

template <typename Visit>
bool SegmentWriter::all_of_chunks(Visit&& visit) const {
  const auto* table = reinterpret_cast<const std::uint8_t*>(header_) + kChunkTableOffset;
  std::array<std::size_t, 256> seen{};
  for (std::uint32_t i = 0; i < header_->chunk_count; ++i) {
    const std::size_t number = seen[table[i]]++;
    const auto kind = static_cast<ChunkKind>(table[i]);
    if (!visit(kind, chunk(kind, number), kHeaderBytes + static_cast<off_t>(i) * kChunkBytes)) {
      return false;
    }
  }
  return true;
}

}  // namespace ttmem::segment
