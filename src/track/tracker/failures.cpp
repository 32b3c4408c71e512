// SPDX-License-Identifier: Apache-2.0
//
// What the tracker does when memory did not suffice.
#include <algorithm>
#include <cstring>
#include <span>

#include "base/clock.hpp"
#include "base/shorten.hpp"
#include "track/tracker/tracker.hpp"

namespace ttmem::tracker {

// Allocations and placements, ever. Unwinding only frees.
std::uint64_t Tracker::taken_so_far() const noexcept {
  std::uint64_t taken = placements_;
  for (const std::unique_ptr<Device>& device : devices_) {
    if (device == nullptr) continue;
    for (const Kind kind : kAllKinds) taken += device->record->figures.kinds[kind].allocations;
  }
  return taken;
}

namespace {

std::string_view first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text.substr(0, text.find('\n'));
}

// True if one is the other with more around it. The rest may have been shortened.
bool is_same_said(std::string_view a, std::string_view b) {
  const std::string_view first = first_line(a);
  const std::string_view other = first_line(b);
  return first.find(other) != std::string_view::npos || other.find(first) != std::string_view::npos;
}

}  // namespace

void Tracker::failure(std::string_view said) {
  segment::FailureRecord& record = segment_->failure();
  char shortened[sizeof record.text];
  const std::string_view text(shortened, shorten(said, shortened));
  const std::string_view before(record.text,
                                std::min<std::size_t>(record.text_bytes, sizeof record.text));
  const std::uint64_t taken = taken_so_far();
  const bool is_passed_on =
      record.number != 0 && taken == taken_at_failure_ && is_same_said(text, before);
  if (is_passed_on) return;
  taken_at_failure_ = taken;
  segment_->restore_deleted_file();
  const std::uint64_t when_ns = clock_ns(CLOCK_MONOTONIC);
  publish(record.seq, [&] {
    store(record.number, record.number + 1);
    store(record.when_ns, when_ns);
    store(record.when_unix_ns, clock_ns(CLOCK_REALTIME));
    store(record.not_kept_error, 0);
    record.text_bytes = static_cast<std::uint32_t>(text.copy(record.text, sizeof record.text));
  });
  if (const int failed = segment_->keep_failed(); failed != 0) {
    publish(record.seq, [&] {
      store(record.not_kept, record.not_kept + 1);
      store(record.not_kept_error, failed);
    });
  }
  write_failure_event(text, when_ns);
}

void Tracker::write_failure_event(std::string_view text, std::uint64_t when_ns) {
  constexpr std::size_t per_record = sizeof(segment::EventRecord);
  const std::size_t records = (text.size() + per_record - 1) / per_record;
  key_.assign(records * per_record / sizeof(std::uint64_t), 0);
  std::memcpy(key_.data(), text.data(), text.size());
  const bool details = segment_->has_event_details();
  segment_->write_event({.type = segment::EventType::failure,
                         .id = segment_->failure().number,
                         .bytes = text.size(),
                         .when_ns = when_ns},
                        key_.data(), details ? static_cast<std::uint32_t>(records) : 0);
}

}  // namespace ttmem::tracker
