// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttmem {

// The visits of a scope, counted over all threads. All times come from one coarse clock.
struct ScopeVisits {
  std::uint32_t entered = 0;   // 0 means unknown
  std::uint32_t open = 0;      // number of visits that have not ended
  std::int64_t last_ns = 0;    // last time a thread entered the scope while no thread was in it
  std::int64_t before_ns = 0;  // previous value of last_ns
};

// The state of the scope visit during which an allocation was made.
struct ScopeVisit {
  enum class State : std::uint8_t {
    unknown,
    // The visit has not ended. This is also the state if the allocation was made in the visit
    // before, but in the same tick of the clock in which the open visit began.
    lasts,
    over,  // the scope was left
  };
  State state = State::unknown;
  std::uint32_t visits = 0;  // number of finished visits of the scope
  // True if no later visit of the scope has finished, as far as a coarse clock can tell.
  bool is_last = false;
};

// Returns the state of the visit during which an allocation was made at `when_ns`. Ignores visits
// of enclosing scopes. If a thread ends inside a scope, its visit stays open for ever.
[[nodiscard]] inline ScopeVisit visit_at(std::int64_t when_ns, const ScopeVisits& scope) {
  if (scope.entered == 0) return {};
  ScopeVisit visit;
  const bool is_over = scope.open == 0 || when_ns < scope.last_ns;
  visit.state = is_over ? ScopeVisit::State::over : ScopeVisit::State::lasts;
  visit.visits = scope.entered - std::min(scope.open, scope.entered);
  visit.is_last = when_ns >= (scope.open == 0 ? scope.last_ns : scope.before_ns);
  return visit;
}

}  // namespace ttmem
