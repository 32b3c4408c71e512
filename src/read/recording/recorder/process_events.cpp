// SPDX-License-Identifier: Apache-2.0
#include "read/recording/recorder/process_events.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "segment/reader/segment_reader.hpp"

namespace ttmem::recording {
namespace {

// The maximum number of events in memory. Further events stay in the ring until the events in
// memory are written.
constexpr std::size_t kMaxWaiting = 1 << 20;
constexpr std::uint32_t kEventsAtOnce = 1 << 17;

}  // namespace

std::size_t ProcessEvents::Batch::size() const {
  std::size_t steps = events.events.size();
  if (bridge) steps += 1 + bridge->image.allocations.size() + bridge->image.programs.size();
  return steps;
}

void ProcessEvents::drain() {
  while (waiting_ < kMaxWaiting) {
    auto events = segment::read_events(source_, read_up_to_, kEventsAtOnce);
    if (!events) return;
    // A process that is older than the recording gets its first bridge now, even if it has no
    // events yet. A later bridge would drop the events that come with it.
    const bool is_begin = !was_read_ && begin_ < 0;
    if (events->newest == read_up_to_ && !is_begin) return;
    has_details_ = events->has_details;
    Batch batch{.events = std::move(*events)};
    read_up_to_ = batch.events.newest;
    if (batch.events.lost > 0 || is_begin) take_image(batch, !is_begin);
    was_read_ = true;
    seen_ += batch.events.events.size();
    waiting_ += batch.events.events.size();
    if (batch.size() > 0) batches_.push_back(std::move(batch));
  }
}

// Adds a bridge at the begin of the recording or after lost events. Drops the events of the batch:
// they may contradict each other, because earlier events are missing. The image of the bridge
// already contains their result.
void ProcessEvents::take_image(Batch& batch, bool is_gap) {
  auto image = segment::read_segment(source_);
  if (!image) return;
  const std::uint64_t lost_before = lost_;
  if (is_gap) {
    count_lost(image->event_count);
  } else {
    before_ = image->event_count;
  }
  batch.events.events.clear();
  batch.events.details.clear();
  read_up_to_ = std::max(read_up_to_, image->events);
  const auto older = [](const auto& a, const auto& b) { return a.when_ns < b.when_ns; };
  std::stable_sort(image->allocations.begin(), image->allocations.end(), older);
  std::stable_sort(image->programs.begin(), image->programs.end(), older);
  batch.bridge = Bridge{.image = std::move(*image),
                        .is_gap = is_gap,
                        .time_ns = static_cast<Time>(clock_ns(CLOCK_MONOTONIC) - began_ns_),
                        .lost_events = lost_ - std::min(lost_, lost_before)};
}

void ProcessEvents::count_lost(std::uint64_t all) { lost_ = all - std::min(all, before_ + seen_); }

Time ProcessEvents::time_of(std::uint64_t when_ns) const {
  const Time time = possible(static_cast<Time>(when_ns - began_ns_));
  // Times of buffers come from a coarse clock, so the first time may lie before the begin of the
  // process.
  const Time earliest = std::max(begin_, last_ < 0 ? last_ : last_ + 1);
  return std::max(time, earliest);
}

std::optional<ProcessEvents::Step> ProcessEvents::next() const {
  if (batches_.empty()) return std::nullopt;
  const Batch& batch = batches_.front();
  const std::size_t events = batch.events.events.size();
  if (batch.position < events) return event_step(batch);
  return bridge_step(*batch.bridge, batch.position - events);
}

ProcessEvents::Step ProcessEvents::event_step(const Batch& batch) const {
  const segment::EventRecord& event = batch.events.events[batch.position];
  const std::size_t count = batch.events.has_details ? segment::details_after(event) : 0;
  return {.time_ns = time_of(event.when_ns),
          .event = &event,
          .details = std::span(batch.events.details).subspan(batch.next_details, count)};
}

ProcessEvents::Step ProcessEvents::bridge_step(const Bridge& bridge, std::size_t index) const {
  if (index == 0) {
    // The first bridge has the time at which the process began, because its live objects may be as
    // old as the process.
    return {.time_ns = bridge.is_gap ? std::max(last_, begin_) + 1 : begin_, .bridge = &bridge};
  }
  const auto& allocations = bridge.image.allocations;
  if (index <= allocations.size()) {
    const segment::LiveAllocation& live = allocations[index - 1];
    return {.time_ns = time_of(live.when_ns), .allocation = &live};
  }
  const segment::LiveProgram& live = bridge.image.programs[index - 1 - allocations.size()];
  return {.time_ns = time_of(live.when_ns), .program = &live};
}

void ProcessEvents::advance() {
  const std::optional<Step> step = next();
  if (step->bridge == nullptr) last_ = step->time_ns;
  Batch& batch = batches_.front();
  if (step->event != nullptr) {
    batch.next_details += step->details.size();
    --waiting_;
  }
  if (++batch.position == batch.size()) batches_.pop_front();
}

}  // namespace ttmem::recording
