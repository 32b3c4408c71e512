// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>
#include <span>
#include <vector>

#include "segment/writer/segment_writer.hpp"
#include "track/ledger/device_ledger.hpp"
#include "track/ledger/footprint.hpp"
#include "track/tracker/device_table.hpp"
#include "track/tracker/tracked_process.hpp"

namespace ttmem::tracker {

// Writes programs and their circular buffers into the segment: slots of programs, records of
// footprints, the CB figures of devices and cores, and events. The ledger of each device computes
// the figures.
//
// Not thread-safe. A function that is not noexcept may throw std::bad_alloc; the tracker must not
// be used afterwards. CBs that are impossible on the device are clipped and counted as a bad
// argument. A program without a slot, because the segment has no room for another slot, is in the
// figures and not in the list. Clipped CBs and missing slots are no failures.
class ProgramTracker {
 public:
  // `process` and `devices` must outlive this object.
  ProgramTracker(TrackedProcess& process, DeviceTable& devices);
  // Removes the programs from the ledgers of the devices, because the ledgers refer to footprints
  // of this object.
  ~ProgramTracker();
  ProgramTracker(const ProgramTracker&) = delete;
  ProgramTracker& operator=(const ProgramTracker&) = delete;

  // Places the program on the device, or on each of the devices. Placing a program again with the
  // same CBs and name changes nothing; other CBs replace the earlier CBs. A null or empty `name`
  // keeps the name of the program.
  void place(TrackedDevice& device, std::uint64_t program, std::span<const ttmem_cb> cbs,
             const char* name = nullptr);
  void place(const DeviceMask& devices, std::uint64_t program, std::span<const ttmem_cb> cbs,
             const char* name = nullptr);
  // Makes the program resident on its cores of the device, or of each of the devices. If the
  // program is not placed on a device, an unknown program is counted for the device.
  void dispatch(TrackedDevice& device, std::uint64_t program);
  void dispatch(const DeviceMask& devices, std::uint64_t program);
  // Makes a trace of these programs resident: each core then holds the CBs of the program that
  // takes the most bytes on the core. Programs that are not placed on the device are counted as
  // unknown. Does nothing if `programs` is empty.
  void replay_trace(TrackedDevice& device, std::span<const std::uint64_t> programs);
  // Removes the program from every device. Does nothing if the program is placed on no device.
  void destroy(std::uint64_t program);
  // Removes the program from the device. Does nothing if the program is not placed on the device.
  void remove(TrackedDevice& device, std::uint64_t program);
  // Removes all programs from a device that closes. The observer is not called.
  void remove_all(TrackedDevice& device);

  // Places the programs of the device again, on a grid that just became known. No program is
  // resident afterwards.
  void renumber_cores(TrackedDevice& device);

  // Returns the number of place events so far.
  [[nodiscard]] std::uint64_t placements() const noexcept { return placements_; }

 private:
  void place_footprint(TrackedDevice& device, std::uint64_t program, ledger::FootprintRef footprint,
                       const char* name);
  void dispatch_on(TrackedDevice& device, std::uint64_t program);
  // The slow part of dispatch_on(). Not inlined, so that the loop over the devices of a mesh keeps
  // its variables in registers.
  [[gnu::noinline]] void make_resident(TrackedDevice& device, std::uint64_t program);
  ledger::FootprintRef footprint_of(TrackedDevice& device, std::span<const ttmem_cb> cbs);
  static std::uint64_t first_word(const TrackedDevice& device) noexcept;
  static std::vector<ledger::Cb> decode(const TrackedDevice& device,
                                        std::span<const std::uint64_t> key);
  void publish_footprint(ledger::Footprint& footprint) noexcept;
  void retire_footprint(ledger::Footprint& footprint) noexcept;
  void publish_program(TrackedDevice& device, ledger::Placement& placement);
  bool rename(ledger::Placement& placement, const char* name);
  void publish_name(TrackedDevice& device, const ledger::Placement& placement) noexcept;
  void clear_slot(ledger::Placement& placement);
  void publish_cb_figures(TrackedDevice& device) noexcept;
  static void set_dispatches_reported(TrackedDevice& device) noexcept;
  void forget_program(TrackedDevice& device, ledger::Placement& placement,
                      segment::DestroyFlags flags = {});
  void write_place_event(const TrackedDevice& device, const ledger::Placement& placement,
                         std::uint64_t time) noexcept;
  void write_dispatch_event(segment::EventType type, std::uint32_t number,
                            std::uint64_t program) noexcept;
  void write_replay_event(const TrackedDevice& device,
                          std::span<const std::uint64_t> programs) noexcept;

  TrackedProcess& process_;
  segment::SegmentWriter& segment_;  // of process_; saves a load in each call
  DeviceTable& devices_;
  ledger::FootprintTable footprints_;
  std::uint64_t footprint_number_ = 0;  // number of the newest footprint
  std::vector<std::uint64_t> key_;      // footprint's key; a member, so that its memory is reused
  std::uint64_t placements_ = 0;
};

}  // namespace ttmem::tracker
