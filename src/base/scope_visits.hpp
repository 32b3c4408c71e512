// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttmem {

// How often a scope was entered and left. Times are those of one clock, and coarse.
struct ScopeVisits {
  std::uint32_t entered = 0;   // 0: unknown
  std::uint32_t open = 0;      // how often it is entered and not left now, over all threads
  std::int64_t last_ns = 0;    // when it was entered last while nobody was in it
  std::int64_t before_ns = 0;  // the time before that
};

// What has become of the visit of a scope in which something was taken.
struct ScopeVisit {
  enum class State : std::uint8_t {
    unknown,
    lasts,  // also when it was left, and entered again in the same tick of the clock
    over,   // the scope was left
  };
  State state = State::unknown;
  std::uint32_t visits = 0;  // of that scope, those that are over
  bool is_last = false;      // of these it was the last, as far as a coarse clock tells
};

// Of something that was taken at `when_ns`. Enclosing scopes do not matter. A thread that ended
// inside a scope never leaves it.
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
