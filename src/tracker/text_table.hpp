// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string_view>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

// The names of programs and the long labels in the segment. Each different text is written once and
// never removed.
//
// The number of a text is the index of its record plus one; 0 is no text. One that is longer than a
// record loses its middle. `segment` must outlive it. Not thread-safe; may throw std::bad_alloc.
class TextTable {
 public:
  explicit TextTable(segment::SegmentWriter& segment) noexcept : segment_(segment) {}

  // The number of `text`. 0 when it is empty, and when it is new and there are `most` already or
  // the segment cannot grow.
  [[nodiscard]] std::uint32_t number_of(const char* text, std::uint32_t most = segment::kMaxTexts);

  // True if `number` is that of `text`. Only compares, so that placing a program again is cheap.
  [[nodiscard]] bool is(std::uint32_t number, const char* text) const noexcept;

 private:
  segment::SegmentWriter& segment_;
  // The keys are the texts in the segment, which stay where they are.
  boost::unordered_flat_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace ttmem::tracker
