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

// The names of programs, the long labels and the scopes in the segment. Each different text is
// written once and never removed. A scope is a text in another one.
//
// The number of a text is the index of its record plus one; 0 is no text. One that is longer than a
// record loses its middle. `segment` must outlive it. Not thread-safe; may throw std::bad_alloc.
class TextTable {
 public:
  explicit TextTable(segment::SegmentWriter& segment) noexcept : segment_(segment) {}

  // The number of `text`. 0 when it is empty, and when it is new and there are `most` already or
  // the segment cannot grow.
  [[nodiscard]] std::uint32_t number_of(const char* text, std::uint32_t most = segment::kMaxTexts) {
    return number_of({0, text}, most);
  }
  // The number of the scope of this name in the scope `parent`; 0 as above.
  [[nodiscard]] std::uint32_t scope_in(std::uint32_t parent, const char* name) {
    return number_of({parent, name}, segment::kMaxTexts);
  }
  // The number of the scope that it lies in; 0: in none.
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t scope) const noexcept;
  // Its own name, which stays where it is.
  [[nodiscard]] std::string_view name_of(std::uint32_t scope) const noexcept;

  // Counts a visit of the scope. Returns where those are counted that last: whoever leaves it
  // calls leave_scope() with that, from any thread and without a lock, as long as the segment is
  // mapped. Null when the name is too long to leave room for figures.
  [[nodiscard]] std::uint32_t* enter_scope(std::uint32_t scope) noexcept;
  // The same place.
  [[nodiscard]] std::uint32_t* open_visits(std::uint32_t scope) const noexcept;

  // True if `number` is that of `text`. Only compares, so that placing a program again is cheap.
  [[nodiscard]] bool is(std::uint32_t number, const char* text) const noexcept;

 private:
  struct Wanted {
    std::uint32_t parent;
    const char* text;
  };
  std::uint32_t number_of(const Wanted& wanted, std::uint32_t most);

  struct Known {
    std::uint32_t parent;
    std::uint32_t length;
  };

  segment::SegmentWriter& segment_;
  std::vector<Known> texts_;  // by number - 1
  // By the scope that it lies in (0: it is no scope in another) and the text in the segment, which
  // stays where it is.
  boost::unordered_flat_map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> numbers_;
};

// A visit is over. Does nothing for null. Released: what was taken in the scope is stored before.
// One that comes while a deleted file is written again may be lost: then the scope counts as open,
// and nothing is told of it.
inline void leave_scope(std::uint32_t* open_visits) noexcept {
  if (open_visits == nullptr) return;
  std::atomic_ref<std::uint32_t>(*open_visits).fetch_sub(1, std::memory_order_release);
}

}  // namespace ttmem::tracker
