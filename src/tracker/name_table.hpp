// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string_view>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

// The names of programs in the segment. Each different name is written once and never removed.
//
// The number of a name is the index of its record plus one; 0 is no name. Long names are truncated
// to the size of a record. `segment` must outlive it. Not thread-safe; may throw std::bad_alloc.
class NameTable {
 public:
  explicit NameTable(segment::SegmentWriter& segment) noexcept : segment_(segment) {}

  // The number of `name`. 0 when it is empty, and when there is no room for one more; the segment
  // counts that.
  [[nodiscard]] std::uint32_t number_of(const char* name);

  // True if `number` is that of `name`. Only compares, so that placing a program again is cheap.
  [[nodiscard]] bool is(std::uint32_t number, const char* name) const noexcept;

 private:
  segment::SegmentWriter& segment_;
  // The keys are the texts in the segment, which stay where they are.
  boost::unordered_flat_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace ttmem::tracker
