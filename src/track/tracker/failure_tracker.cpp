// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/failure_tracker.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/clock.hpp"
#include "base/shorten.hpp"

namespace ttmem::tracker {
namespace {

std::string_view first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text.substr(0, text.find('\n'));
}

// Returns true if the first line of one text contains the first line of the other text. Compares
// first lines only, because the rest of a long text may have been shortened.
bool is_same_failure(std::string_view a, std::string_view b) {
  const std::string_view first = first_line(a);
  const std::string_view other = first_line(b);
  return first.find(other) != std::string_view::npos || other.find(first) != std::string_view::npos;
}

}  // namespace

// Returns the number of allocations and placements so far. The frees that follow an exception do
// not change this number.
std::uint64_t FailureTracker::count_taken() const noexcept {
  std::uint64_t taken = programs_.placements();
  devices_.for_each([&](const TrackedDevice& device) {
    for (const Kind kind : kAllKinds) taken += device.figures().kinds[kind].allocations;
  });
  return taken;
}

void FailureTracker::report(std::string_view long_text) {
  segment::SegmentWriter& writer = process_.segment();
  segment::FailureRecord& record = writer.failure();
  char shortened[sizeof record.text];
  const std::string_view text(shortened, shorten(long_text, shortened));
  const std::string_view before(record.text,
                                std::min<std::size_t>(record.text_bytes, sizeof record.text));
  const std::uint64_t taken = count_taken();
  const bool is_passed_on =
      record.number != 0 && taken == taken_at_failure_ && is_same_failure(text, before);
  if (is_passed_on) return;
  taken_at_failure_ = taken;
  writer.restore_deleted_file();
  const std::uint64_t when_ns = clock_ns(CLOCK_MONOTONIC);
  publish(record.seq, [&] {
    store(record.number, record.number + 1);
    store(record.when_ns, when_ns);
    store(record.when_unix_ns, clock_ns(CLOCK_REALTIME));
    store(record.not_kept_error, 0);
    record.text_bytes = static_cast<std::uint32_t>(text.copy(record.text, sizeof record.text));
  });
  if (const int failed = writer.keep_failed(); failed != 0) {
    publish(record.seq, [&] {
      store(record.not_kept, record.not_kept + 1);
      store(record.not_kept_error, failed);
    });
  }
  write_event(text, when_ns);
}

void FailureTracker::write_event(std::string_view text, std::uint64_t when_ns) {
  segment::SegmentWriter& writer = process_.segment();
  const std::size_t records =
      (text.size() + sizeof(segment::EventRecord) - 1) / sizeof(segment::EventRecord);
  std::vector<char> details(records * sizeof(segment::EventRecord));
  std::memcpy(details.data(), text.data(), text.size());
  writer.write_event({.type = segment::EventType::failure,
                      .id = writer.failure().number,
                      .bytes = text.size(),
                      .when_ns = when_ns},
                     details.data(),
                     writer.has_event_details() ? static_cast<std::uint32_t>(records) : 0);
}

}  // namespace ttmem::tracker
