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

// The contents of an allocation's `label` field, which depend on the allocation's flags.
struct OriginNumbers {
  std::string_view label{};        // the label; empty if `label_number` is set
  std::uint32_t label_number = 0;  // number of the label's text; 0 means none
  std::uint32_t scope_number = 0;
};
[[nodiscard]] OriginNumbers origin_numbers(std::uint8_t flags, const char (&place)[32]);

// Reads the names, long labels and scopes of a segment. Reads a chunk when the first of its texts
// is needed. One copy is enough: a record refers only to complete texts, and a text never changes.
// Only the visits of a scope change. They are read once, together with the chunk.
//
// `source` and `map` must outlive the reader.
class TextReader {
 public:
  TextReader(const ByteSource& source, const SegmentMap& map);

  // Sets `text` to the text with this number, made safe to print. Clears `text` if the number is 0,
  // or if the text is incomplete or missing. Returns false if the file is truncated.
  [[nodiscard]] bool read(std::uint32_t number, std::string& text);
  // Sets `path` to the names of the scope and of its enclosing scopes, outermost first:
  // "decoder.0/attention". Fails in the same cases as read().
  [[nodiscard]] bool read_scope(std::uint32_t number, std::string& path);
  // Returns the visits of a scope. The visits are unknown if there is no such scope, if its name is
  // too long for a ScopeRecord, or if the process does not report visits.
  [[nodiscard]] ScopeVisits visits(std::uint32_t number);

 private:
  static constexpr std::uint32_t kPerChunk = kChunkBytes / sizeof(TextRecord);

  bool load(std::uint32_t chunk, std::vector<TextRecord>& records) const;
  // Returns the record with this number, or null if there is none. Sets `whole` to false if the
  // file is truncated.
  const TextRecord* record(std::uint32_t number, bool& whole);

  const ByteSource& source_;
  const RecordPlaces& places_;
  std::uint32_t count_;
  std::vector<std::vector<TextRecord>> chunks_;
  std::map<std::uint32_t, std::string> paths_;  // paths of the scopes that were read
};

}  // namespace ttmem::segment
