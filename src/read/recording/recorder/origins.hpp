// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "base/scope_visits.hpp"
#include "read/recording/file/writer.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/byte_source.hpp"

namespace ttmem::recording {

// The origin of an allocation and its cores, as rows of the recording; 0: none.
struct Origin {
  std::uint32_t label = 0;
  std::uint32_t scope = 0;
  std::uint32_t cores = 0;
};

// Converts the labels, scopes, names and cores of one segment to rows of a recording. Reads each
// distinct value once, because a workload repeats a few values all the time. Not thread-safe;
// `source` and `writer` must outlive this object.
class Origins {
 public:
  Origins(const segment::ByteSource& source, Writer& writer) : source_(source), writer_(writer) {}

  // Returns the rows of the label, the scope and the cores of an allocation.
  [[nodiscard]] Origin of(std::uint8_t flags, const segment::AllocationDetails& details);
  // name() and scope() return the row of a text number or scope number of the segment. text()
  // returns the text of a text number.
  [[nodiscard]] std::uint32_t name(std::uint64_t number);
  [[nodiscard]] std::uint32_t scope(std::uint64_t number);
  [[nodiscard]] std::string text(std::uint64_t number) const;
  // Returns, by row of the scope, how often each scope was entered so far and how often it is open.
  // Only scopes that were passed to scope() or of() are included.
  [[nodiscard]] std::map<std::uint32_t, ScopeVisits> visits() const;

 private:
  // The flags, and the AllocationDetails with all unused bytes cleared.
  using Key = std::array<std::uint64_t, 9>;

  [[nodiscard]] Origin read(std::uint8_t flags, const segment::AllocationDetails& details);

  const segment::ByteSource& source_;
  Writer& writer_;
  boost::unordered_flat_map<Key, Origin> known_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> names_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> scopes_;
};

}  // namespace ttmem::recording
