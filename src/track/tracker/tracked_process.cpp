// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/tracked_process.hpp"

#include "track/tracker/clock.hpp"

namespace ttmem::tracker {

void TrackedProcess::mark(const char* name) {
  segment_->write_event({.type = segment::EventType::mark,
                         .id = texts_.number_of(name),
                         .when_ns = clock_ns(CLOCK_MONOTONIC)});
}

std::uint64_t TrackedProcess::exact_time() const noexcept {
  return segment_->has_event_details() ? clock_ns(CLOCK_MONOTONIC) : now();
}

void TrackedProcess::count_dropped_calls(std::uint64_t calls) noexcept {
  std::uint64_t& dropped = segment_->header().dropped_calls;
  segment::store(dropped, dropped + calls);
}

void TrackedProcess::count_recorded_calls(std::uint64_t calls) noexcept {
  std::uint64_t& dropped = segment_->header().dropped_calls;
  segment::store(dropped, dropped - calls);
}

}  // namespace ttmem::tracker
