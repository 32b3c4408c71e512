// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

#include "analyse/report/report.hpp"
#include "read/recording/file/rows.hpp"
#include "read/recording/file/story.hpp"

namespace ttmem::report {

// The moment after one event of a recording. Events may have the same time; moments are ordered by
// all fields.
struct Moment {
  Time time_ns = 0;
  recording::Event::Type type = recording::Event::Type::free;
  recording::RowId row = 0;  // row of an allocation or program; 0 for other events

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

[[nodiscard]] inline Moment moment_of(const recording::Event& event) {
  using Type = recording::Event::Type;
  Moment moment{event.time_ns, event.type, 0};
  if (event.type == Type::allocate || event.type == Type::free) moment.row = event.allocation->id;
  if (event.type == Type::place || event.type == Type::remove) moment.row = event.program->id;
  return moment;
}

// Returns true if a row is live after the moment. The row begins with an event of type `begin` and
// ends with an event of type `end`.
template <typename Row>
[[nodiscard]] bool is_live(const Row& row, recording::Event::Type begin, recording::Event::Type end,
                           const Moment& at) {
  const Moment born{row.begin_ns, begin, row.id};
  if (born == at) return true;  // true even if the row ends at the same time
  return born < at && (!row.end_ns || at < Moment{*row.end_ns, end, row.id});
}

}  // namespace ttmem::report
