// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/scope_visits.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// What the place of a label holds, by the flags of the allocation.
struct OriginNumbers {
  std::string_view label{};        // up to a zero, or empty when it has a number
  std::uint32_t label_number = 0;  // of a text; 0: none
  std::uint32_t scope_number = 0;
};
[[nodiscard]] OriginNumbers origin_numbers(std::uint8_t flags, const char (&place)[32]);

// The names and long labels of a segment. Reads a chunk when the first of its texts is needed. One
// copy is enough: a record refers to a text only when it is complete, and a text never changes. The
// visits of a scope are those of the moment when its chunk was read.
// `source` and `map` must outlive it.
class TextReader {
 public:
  TextReader(const ByteSource& source, const SegmentMap& map);

  // Sets `text` to the one with this number, safe to print; to nothing when there is none: the
  // number is 0, or the text is not complete or not there. False when the file is cut short.
  [[nodiscard]] bool read(std::uint32_t number, std::string& text);
  // The same of a scope: its name after those of the scopes that it lies in, "decoder.0/attention".
  [[nodiscard]] bool read_scope(std::uint32_t number, std::string& path);
  // How often it was entered and left; unknown when there is no such scope, and when the process
  // does not say it.
  [[nodiscard]] ScopeVisits visits(std::uint32_t number);

 private:
  static constexpr std::uint32_t kPerChunk = kChunkBytes / sizeof(TextRecord);

  bool load(std::uint32_t chunk, std::vector<TextRecord>& records) const;
  // The record with this number; null when there is none, `whole` is false when the file is cut
  // short.
  const TextRecord* record(std::uint32_t number, bool& whole);

  const ByteSource& source_;
  const RecordPlaces& places_;
  std::uint32_t count_;
  std::vector<std::vector<TextRecord>> chunks_;
  std::map<std::uint32_t, std::string> paths_;  // of the scopes that were read
};

}  // namespace ttmem::segment
