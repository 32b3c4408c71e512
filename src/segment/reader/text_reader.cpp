// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/text_reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "base/safe_text.hpp"

namespace ttmem::segment {

OriginNumbers origin_numbers(std::uint8_t flags, const char (&place)[32]) {
  OriginNumbers origin;
  std::size_t room = sizeof place;
  if ((flags & kScoped) != 0) {
    room -= sizeof origin.scope_number;
    std::memcpy(&origin.scope_number, place + room, sizeof origin.scope_number);
  }
  if ((flags & kLongLabel) != 0) {
    std::memcpy(&origin.label_number, place, sizeof origin.label_number);
  } else {
    origin.label = std::string_view(place, ::strnlen(place, room));
  }
  return origin;
}

TextReader::TextReader(const ByteSource& source, const SegmentMap& map)
    : source_(source),
      places_(map.texts),
      count_(std::min({map.header.text_count, map.texts.capacity(), kMaxTexts})),
      chunks_((count_ + kPerChunk - 1) / kPerChunk) {}

const TextRecord* TextReader::record(std::uint32_t number, bool& whole) {
  whole = true;
  if (number == 0 || number > count_)
    return nullptr;  // 0 means no text; a text above count_ is newer than the header
  const std::uint32_t index = number - 1;
  std::vector<TextRecord>& chunk = chunks_[index / kPerChunk];
  if (chunk.empty()) whole = load(index / kPerChunk, chunk);
  return whole ? &chunk[index % kPerChunk] : nullptr;
}

bool TextReader::read(std::uint32_t number, std::string& text) {
  text.clear();
  bool whole = true;
  const TextRecord* const found = record(number, whole);
  if (found != nullptr && found->length <= sizeof found->text) {
    text = safe_text(std::string_view(found->text, found->length));
  }
  return whole;
}

bool TextReader::read_scope(std::uint32_t number, std::string& path) {
  const auto known = paths_.find(number);
  if (known != paths_.end()) {
    path = known->second;
    return true;
  }
  path.clear();
  std::uint32_t at = number;
  bool whole = true;
  for (std::uint32_t depth = 0; depth < kMaxScopeDepth; ++depth) {
    const TextRecord* const found = record(at, whole);
    const std::uint64_t length = found == nullptr ? 0 : found->length & UINT32_MAX;
    if (length == 0 || length > sizeof found->text) break;
    if (!path.empty()) path.insert(0, "/");
    path.insert(0, safe_text(std::string_view(found->text, length)));
    // Follows only a parent with a lower number, because a scope is stored after its enclosing
    // scope.
    const auto parent = static_cast<std::uint32_t>(found->length >> kParentShift);
    if (parent == 0 || parent >= at) break;
    at = parent;
  }
  if (whole) paths_.emplace(number, path);
  return whole;
}

ScopeVisits TextReader::visits(std::uint32_t number) {
  bool whole = true;
  const TextRecord* const found = record(number, whole);
  if (found == nullptr || (found->length & UINT32_MAX) > sizeof found->scope.name) return {};
  const ScopeRecord& scope = found->scope;
  return {.entered = scope.entered,
          .open = scope.open,
          .last_ns = static_cast<std::int64_t>(scope.last_ns),
          .before_ns = static_cast<std::int64_t>(scope.before_ns)};
}

bool TextReader::load(std::uint32_t chunk, std::vector<TextRecord>& records) const {
  records.resize(kPerChunk);
  const auto bytes = std::as_writable_bytes(std::span(records));
  return source_.read_at(places_.offset_of(chunk * kPerChunk), bytes) == bytes.size();
}

}  // namespace ttmem::segment
