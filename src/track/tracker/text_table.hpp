// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

// The names of programs, the long labels, the marks and the scopes in the segment. Each different
// text is written once and never removed. A scope is a text with a parent scope.
//
// The number of a text is the index of its record plus one; 0 means no text. The middle of a text
// that is longer than a record is left out. `segment` must outlive this object. Not thread-safe;
// may throw std::bad_alloc.
class TextTable {
 public:
  explicit TextTable(segment::SegmentWriter& segment) noexcept : segment_(segment) {}

  // Returns the number of `text`, and adds `text` if it is new. Returns 0 if `text` is empty. Also
  // returns 0 if `text` is new, and there are `maximum` texts already or the segment cannot grow.
  [[nodiscard]] std::uint32_t number_of(const char* text,
                                        std::uint32_t maximum = segment::kMaxTexts) {
    return number_of({0, text}, maximum);
  }
  // Returns the number of the scope `name` in the scope `parent`, where 0 means no parent. Returns
  // 0 in the same cases as number_of().
  [[nodiscard]] std::uint32_t scope_in(std::uint32_t parent, const char* name) {
    return number_of({parent, name}, segment::kMaxTexts);
  }
  // Returns the number of the scope that contains `scope`, or 0 if no scope does.
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t scope) const noexcept;
  // Returns the name of the scope, without the names of the scopes around it. The text stays valid
  // as long as the segment is mapped.
  [[nodiscard]] std::string_view name_of(std::uint32_t scope) const noexcept;

  // Counts a visit of the scope. Returns the counter of the open visits, which a thread passes to
  // leave_scope() when it leaves the scope. Returns null if the name of the scope is so long that
  // the record has no room for counters.
  [[nodiscard]] std::uint32_t* enter_scope(std::uint32_t scope) noexcept;
  // Returns the counter that enter_scope() returns, without counting a visit.
  [[nodiscard]] std::uint32_t* open_visits(std::uint32_t scope) const noexcept;

  // Returns true if `number` is the number of `text`. Only compares, without a lookup, so that
  // placing a program again is cheap.
  [[nodiscard]] bool has_text(std::uint32_t number, const char* text) const noexcept;

 private:
  struct Wanted {
    std::uint32_t parent;
    const char* text;
  };
  std::uint32_t number_of(const Wanted& wanted, std::uint32_t maximum);

  struct Known {
    std::uint32_t parent;
    std::uint32_t length;
  };

  segment::SegmentWriter& segment_;
  std::vector<Known> texts_;  // by number - 1
  // The key is the parent scope (0: no parent) and the text in the segment, whose address never
  // changes.
  boost::unordered_flat_map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> numbers_;
};

// Ends a visit that enter_scope() counted. Does nothing for null. May be called from any thread and
// without a lock, as long as the segment is mapped. The decrement is a release, so that everything
// that was allocated in the scope is stored before the decrement. A decrement may be lost while
// SegmentWriter::restore_deleted_file() copies the segment. The scope then counts as open for ever.
inline void leave_scope(std::uint32_t* open_visits) noexcept {
  if (open_visits == nullptr) return;
  std::atomic_ref<std::uint32_t>(*open_visits).fetch_sub(1, std::memory_order_release);
}

}  // namespace ttmem::tracker
