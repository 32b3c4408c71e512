// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// The names and long labels of a segment. Reads a chunk when the first of its texts is needed. One
// copy is enough: a record refers to a text only when it is complete, and a text never changes.
// `source` and `map` must outlive it.
class TextReader {
 public:
  TextReader(const ByteSource& source, const SegmentMap& map);

  // Sets `text` to the one with this number, safe to print; to nothing when there is none: the
  // number is 0, or the text is not complete or not there. False when the file is cut short.
  [[nodiscard]] bool read(std::uint32_t number, std::string& text);

 private:
  static constexpr std::uint32_t kPerChunk = kChunkBytes / sizeof(TextRecord);

  bool load(std::uint32_t chunk, std::vector<TextRecord>& records) const;

  const ByteSource& source_;
  const RecordPlaces& places_;
  std::uint32_t count_;
  std::vector<std::vector<TextRecord>> chunks_;
};

}  // namespace ttmem::segment
