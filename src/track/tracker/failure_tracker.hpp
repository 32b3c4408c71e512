// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "track/tracker/device_table.hpp"
#include "track/tracker/program_tracker.hpp"
#include "track/tracker/tracked_process.hpp"

namespace ttmem::tracker {

// Records what the process held when it ran out of memory: the text of the failure in the segment,
// and a copy of the segment in a file beside it.
//
// Not thread-safe. A copy that cannot be made is counted in the segment, and is no failure.
// report() may throw std::bad_alloc.
class FailureTracker {
 public:
  // The arguments must outlive this object.
  FailureTracker(TrackedProcess& process, const DeviceTable& devices,
                 const ProgramTracker& programs) noexcept
      : process_(process), devices_(devices), programs_(programs) {}
  FailureTracker(const FailureTracker&) = delete;
  FailureTracker& operator=(const FailureTracker&) = delete;

  // Implements ttmem_report_failure(). `text` says what the process had no memory for. Does nothing
  // if the program only passes on the exception of the last failure. This is assumed if nothing was
  // allocated or placed since the last failure, and the first line of one text contains the first
  // line of the other text.
  void report(std::string_view text);
  // Removes the copy. Call this function when the process exits successfully.
  void forget() noexcept { process_.segment().drop_failed(); }

 private:
  [[nodiscard]] std::uint64_t count_taken() const noexcept;
  void write_event(std::string_view text, std::uint64_t when_ns);

  TrackedProcess& process_;
  const DeviceTable& devices_;
  const ProgramTracker& programs_;
  std::uint64_t taken_at_failure_ = 0;  // count_taken() at the last failure
};

}  // namespace ttmem::tracker
