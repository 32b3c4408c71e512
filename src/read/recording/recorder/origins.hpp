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

// Where an allocation comes from and lies, as rows of the recording; 0: none.
struct Origin {
  std::uint32_t label = 0;
  std::uint32_t scope = 0;
  std::uint32_t cores = 0;
};

// The labels, scopes, names and cores of one segment as rows of a recording. Each different one is
// read once: a workload has few of them and uses them all the time. Not thread-safe; `source` and
// `writer` must outlive it.
class Origins {
 public:
  Origins(const segment::ByteSource& source, Writer& writer) : source_(source), writer_(writer) {}

  // `flags` are those of the allocation.
  [[nodiscard]] Origin of(std::uint8_t flags, const segment::AllocationDetails& details);
  // By the numbers of texts in the segment.
  [[nodiscard]] std::uint32_t name(std::uint64_t number);
  [[nodiscard]] std::uint32_t scope(std::uint64_t number);
  [[nodiscard]] std::string text(std::uint64_t number) const;
  // How often each scope that was asked for was entered and left by now; by its row. Unknown ones
  // are not in it.
  [[nodiscard]] std::map<std::uint32_t, ScopeVisits> visits() const;

 private:
  // The place of the label and the cores, without bytes that mean nothing, and the flags.
  using Key = std::array<std::uint64_t, 9>;

  [[nodiscard]] Origin read(std::uint8_t flags, const segment::AllocationDetails& details);

  const segment::ByteSource& source_;
  Writer& writer_;
  boost::unordered_flat_map<Key, Origin> known_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> names_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> scopes_;
};

}  // namespace ttmem::recording
