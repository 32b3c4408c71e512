// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string_view>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

// The names of programs in the segment: each different name is written once, and stays.
//
// A name has a number, which is that of its record plus one; 0 is no name. Long names are cut to
// what a record holds. `segment` must outlive the table. Not thread-safe; may throw std::bad_alloc.
class NameTable {
 public:
  explicit NameTable(segment::SegmentWriter& segment) noexcept : segment_(segment) {}

  // The number of `name`. 0 when it is empty, and when there is no room for one more, which the
  // segment counts.
  [[nodiscard]] std::uint32_t number_of(const char* name);

  // Whether `number` is that of `name`: only compares, so that placing a program again is cheap.
  [[nodiscard]] bool is(std::uint32_t number, const char* name) const noexcept;

 private:
  segment::SegmentWriter& segment_;
  // The keys are the texts in the segment, which stay where they are.
  boost::unordered_flat_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace ttmem::tracker
