// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "segment/writer/segment_writer.hpp"
#include "track/tracker/observer.hpp"
#include "track/tracker/text_table.hpp"

namespace ttmem::tracker {

// The data that the parts of a tracker share: the segment of the tracked process, the texts and
// scopes in the segment, the observer of changes, and the number of dropped calls.
//
// Owns the segment. The parts of the tracker (tracker.hpp) keep references to this object.
//
// Not thread-safe: the caller of the tracker holds a lock. mark() may throw std::bad_alloc, and so
// may texts().
class TrackedProcess {
 public:
  explicit TrackedProcess(std::unique_ptr<segment::SegmentWriter> segment)
      : segment_(std::move(segment)), texts_(*segment_) {}
  TrackedProcess(const TrackedProcess&) = delete;
  TrackedProcess& operator=(const TrackedProcess&) = delete;

  // Returns the segment. Callers of the tracker need the segment only for the path and the end of
  // the file (finish(), discard(), abandon(), close_file()).
  [[nodiscard]] segment::SegmentWriter& segment() const noexcept { return *segment_; }
  // Ends the segment of a client that ended, and keeps the file. Afterwards only the destructor of
  // the tracker may be called.
  void leave_as_evidence() noexcept {
    segment_->leave_as_evidence();
    segment_.reset();
  }
  // Returns false after leave_as_evidence().
  [[nodiscard]] bool has_segment() const noexcept { return segment_ != nullptr; }

  // Returns the table of the scopes, the names of programs and the long labels.
  [[nodiscard]] TextTable& texts() noexcept { return texts_; }
  // Sets the scope of all later allocations and placements. 0 means no scope.
  void set_scope(std::uint32_t scope) noexcept { scope_ = scope; }
  [[nodiscard]] std::uint32_t scope() const noexcept { return scope_; }
  // Writes an event that gives this moment a name. If there is no room for the name, the event has
  // no name.
  void mark(const char* name);

  // Sets the observer, which is called for every change from now on. `observer` may be null, and
  // must outlive the last call of the tracker.
  void set_observer(Observer* observer) noexcept { observer_ = observer; }
  [[nodiscard]] Observer* observer() const noexcept { return observer_; }

  // Returns the time for an event of a rare call: exact when a recorder reads the events, coarse
  // otherwise. A recorder never gives an event an earlier time than the event before it, so a
  // coarse time that follows is raised to the exact time.
  [[nodiscard]] std::uint64_t exact_time() const noexcept;

  // Counts calls that no figure contains: their arguments are unusable, or there is no room.
  void count_dropped_calls(std::uint64_t calls) noexcept;
  // Subtracts calls from the dropped calls, because they have been recorded after all.
  void count_recorded_calls(std::uint64_t calls) noexcept;

 private:
  std::unique_ptr<segment::SegmentWriter> segment_;
  Observer* observer_ = nullptr;
  TextTable texts_;
  std::uint32_t scope_ = 0;
};

}  // namespace ttmem::tracker
