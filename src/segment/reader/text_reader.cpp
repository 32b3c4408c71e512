// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/text_reader.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "segment/reader/safe_text.hpp"

namespace ttmem::segment {

TextReader::TextReader(const ByteSource& source, const SegmentMap& map)
    : source_(source),
      places_(map.texts),
      count_(std::min({map.header.text_count, map.texts.capacity(), kMaxTexts})),
      chunks_((count_ + kPerChunk - 1) / kPerChunk) {}

bool TextReader::read(std::uint32_t number, std::string& text) {
  text.clear();
  if (number == 0 || number > count_) return true;  // newer than the header that was read
  const std::uint32_t index = number - 1;
  std::vector<TextRecord>& chunk = chunks_[index / kPerChunk];
  if (chunk.empty() && !load(index / kPerChunk, chunk)) return false;
  const TextRecord& record = chunk[index % kPerChunk];
  if (record.length <= sizeof record.text) {
    text = safe_text(std::string_view(record.text, record.length));
  }
  return true;
}

bool TextReader::load(std::uint32_t chunk, std::vector<TextRecord>& records) const {
  records.resize(kPerChunk);
  const auto bytes = std::as_writable_bytes(std::span(records));
  return source_.read_at(places_.offset_of(chunk * kPerChunk), bytes) == bytes.size();
}

}  // namespace ttmem::segment
