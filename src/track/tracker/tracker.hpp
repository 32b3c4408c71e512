// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "base/result.hpp"
#include "segment/writer/segment_writer.hpp"
#include "track/tracker/allocation_tracker.hpp"
#include "track/tracker/device_table.hpp"
#include "track/tracker/failure_tracker.hpp"
#include "track/tracker/program_tracker.hpp"
#include "track/tracker/tracked_process.hpp"

namespace ttmem::tracker {

// Writes what one process allocates, places and frees into a segment: figures, live records and
// events. Every figure in the segment is exact when a call returns.
//
// Has one part for each subject; callers use the parts directly. Only device_open() and
// device_close() use several parts. The caller keeps the receipts of allocations: the server keeps
// them for its clients, and IdTracker keeps them for the C interface.
//
//   auto tracker = Tracker::start(options).value();
//   TrackedDevice* device = tracker->devices.find_or_open(0);
//   AllocationRequest request;
//   Receipt receipt;
//   if (fill_buffer_request(*device, buffer, request) &&
//       tracker->allocations.allocate(*device, request, now(), receipt)) {
//     tracker->allocations.release(*device, receipt, now());
//   }
//   tracker->process.segment().finish();
//
// Not thread-safe: the caller holds a lock. Calls may throw std::bad_alloc; the tracker must not be
// used afterwards. Bad arguments and a segment that cannot grow are counted in the segment, and are
// no failure.
struct Tracker {
  // Fails if the segment cannot be created.
  [[nodiscard]] static Result<std::unique_ptr<Tracker>> start(
      const segment::SegmentWriter::Options& options);
  explicit Tracker(std::unique_ptr<segment::SegmentWriter> segment)
      : process(std::move(segment)),
        devices(process),
        allocations(process, devices),
        programs(process, devices),
        failures(process, devices, programs) {}

  // Opens the device if it is not open, and adds the facts in `info`. Counts a dropped call if the
  // segment has no room for another device.
  void device_open(const ttmem_device_info& info);
  // Removes the programs of the device and closes the device. The caller must have released every
  // receipt of the device. Does nothing if the device is not open.
  void device_close(std::uint32_t id);

  TrackedProcess process;
  DeviceTable devices;
  AllocationTracker allocations;
  ProgramTracker programs;
  FailureTracker failures;
};

}  // namespace ttmem::tracker
