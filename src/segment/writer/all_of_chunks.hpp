// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::segment {

template <typename Visit>
bool SegmentWriter::all_of_chunks(Visit&& visit) const {
  std::array<std::size_t, 256> seen{};
  off_t offset = kHeaderBytes;
  for (const ChunkKind kind : chunk_kinds_) {
    const std::size_t number = seen[static_cast<std::size_t>(kind)]++;
    if (!visit(kind, chunk(kind, number), offset)) return false;
    offset += kChunkBytes;
  }
  return true;
}

}  // namespace ttmem::segment
