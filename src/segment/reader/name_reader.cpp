// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/name_reader.hpp"

#include <algorithm>
#include <string_view>

#include "segment/reader/safe_text.hpp"

namespace ttmem::segment {
namespace {

// The texts of a segment. Reads a chunk when the first of its texts is needed. One copy is enough:
// a program refers to a text only when it is complete, and a text never changes.
class Texts {
 public:
  Texts(const ByteSource& source, const SegmentMap& map)
      : source_(source),
        places_(map.texts),
        count_(std::min({map.header.text_count, map.texts.capacity(), kMaxTexts})),
        chunks_((count_ + kPerChunk - 1) / kPerChunk) {}

  // False when the file is cut short.
  bool get(std::uint32_t index, std::string& text) {
    if (index >= count_) return true;  // newer than the header that was read, or invalid
    std::vector<TextRecord>& chunk = chunks_[index / kPerChunk];
    if (chunk.empty() && !load(index / kPerChunk, chunk)) return false;
    const TextRecord& record = chunk[index % kPerChunk];
    if (record.length <= sizeof record.text) {
      text = safe_text(std::string_view(record.text, record.length));
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kPerChunk = kChunkBytes / sizeof(TextRecord);

  bool load(std::uint32_t number, std::vector<TextRecord>& chunk) const {
    chunk.resize(kPerChunk);
    const auto bytes = std::as_writable_bytes(std::span(chunk));
    return source_.read_at(places_.offset_of(number * kPerChunk), bytes) == bytes.size();
  }

  const ByteSource& source_;
  const RecordPlaces& places_;
  std::uint32_t count_;
  std::vector<std::vector<TextRecord>> chunks_;
};

}  // namespace

std::optional<std::vector<std::string>> read_names(const ByteSource& source, const SegmentMap& map,
                                                   std::span<const ProgramSlot> programs) {
  Texts texts(source, map);
  std::vector<std::string> names(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::uint32_t name = programs[i].name;
    if (name != 0 && !texts.get(name - 1, names[i])) return std::nullopt;
  }
  return names;
}

}  // namespace ttmem::segment
