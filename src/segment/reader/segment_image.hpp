// SPDX-License-Identifier: Apache-2.0
//
// The contents of a segment as checked values: every index is inside its array, every text is safe
// to print, no address overflows. Whether the figures are true depends on the writer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer_layout.hpp"
#include "base/core_mask.hpp"
#include "base/job.hpp"
#include "base/scope_visits.hpp"
#include "segment/layout/layout.hpp"

namespace ttmem::segment {

// An open device with the figures of its record. No peak is below its current figure. Either all
// figures of a kind are known, or none is known and all are 0.
struct DeviceImage : DeviceFigures {
  DeviceImage() : DeviceFigures{} {}

  // True if all figures are of one moment. False if the writer changed the record during every
  // attempt to read it. The figures are then of moments that differ by microseconds.
  // `cores_coherent` is the same for `cores`.
  bool coherent = true;
  bool cores_coherent = true;

  // In the following fields zero or empty means unknown.
  std::uint32_t id = 0;
  bool announced = false;
  std::uint64_t uid = 0;
  std::string arch;
  std::string board;
  std::uint16_t grid_x = 0;
  std::uint16_t grid_y = 0;
  std::uint32_t l1_bytes_per_core = 0;
  std::uint32_t l1_base = 0;
  std::uint32_t l1_small_bytes_per_core = 0;
  std::uint32_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t trace_region_bytes = 0;
  std::uint64_t opened_ns = 0;

  bool cb_resident_known = true;   // false: the resident bytes, here and in `cores`, are unknown
  bool programs_known = true;      // false: `programs` is unknown
  bool cb_estimate = false;        // true: the figures of the CBs are estimates
  std::vector<CoreFigures> cores;  // grid_x * grid_y, row by row; empty if the grid is unknown
};

// A live buffer or kernel.
struct LiveAllocation {
  std::uint32_t slot = 0;    // index of the slot in the segment
  std::uint32_t device = 0;  // index into SegmentImage::devices
  // For a buffer of a mesh: all its devices, `device` first. Otherwise empty.
  std::vector<std::uint32_t> devices;
  Kind kind = Kind::dram;
  std::uint8_t role = 0;  // ttmem_kernel_role of a kernel
  std::uint64_t when_ns = 0;
  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> bytes_per_bank;
  std::optional<std::uint32_t> banks;
  std::optional<CoreMask> cores;  // cores that hold its bytes; nullopt: kNoCores
  bool own_banks = false;         // true: its allocator covers only these cores or banks
  bool estimate = false;          // true: `bytes` is an estimate
  BufferLayout layout{};
  std::string label;
  std::string scope;               // "decoder.0/attention"; empty means none
  std::uint32_t scope_number = 0;  // number of the scope in the segment; 0 means none
  ScopeVisit visit;                // visit of the scope during which the allocation was made
};

// Returns the devices on which the allocation lies. The allocation has its full size on each of
// these devices.
[[nodiscard]] inline std::span<const std::uint32_t> devices_of(const LiveAllocation& allocation) {
  if (allocation.devices.empty()) return {&allocation.device, 1};
  return allocation.devices;
}

struct LiveCb {
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;  // bytes on each core
  bool global = false;      // true: a view of an L1 buffer
  CoreMask cores;
};

// The CBs of a program. Programs with the same CBs share one footprint.
using LiveFootprint = std::vector<LiveCb>;

// A live program on one device.
struct LiveProgram {
  std::uint32_t slot = 0;       // index of the slot in the segment
  std::uint32_t device = 0;     // index into SegmentImage::devices
  std::uint32_t footprint = 0;  // index into SegmentImage::footprints
  std::uint32_t resident_cores = 0;
  std::uint64_t when_ns = 0;
  std::uint64_t program = 0;
  std::string name;                // empty means none
  std::string scope;               // scope in which the program was placed; empty means none
  std::uint32_t scope_number = 0;  // number of the scope in the segment; 0 means none
  ScopeVisit visit;
};

// The allocations that a process had not freed when it closed a device, summed over all closings
// of the device. An open device has the same figures in DeviceImage::anomalies.
struct LeftAtCloseImage {
  std::uint32_t device_id = 0;
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
};

// The peaks of a process on a device, over all periods in which the device was open. A kind that
// the process never reported is unknown.
struct DevicePeaks {
  std::uint32_t id = 0;
  std::uint64_t l1_total_bytes = 0;
  PerKind<std::optional<std::uint64_t>> kinds{};
  std::uint64_t left_at_close = 0;  // as in LeftAtCloseImage
  std::uint64_t left_at_close_bytes = 0;
};

// The last failure of the process.
struct FailureImage {
  std::uint64_t number = 0;  // number of failures so far
  std::uint64_t when_ns = 0;
  std::uint64_t when_unix_ns = 0;
  std::uint64_t not_kept = 0;  // number of failures without a copy of the segment
  std::int32_t not_kept_error =
      0;             // errno if the last failure's copy could not be made; 0: there is a copy
  std::string run;   // id of the innermost run; empty means none
  std::string text;  // may have several lines
};

struct SegmentImage {
  std::int32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint64_t start_time_ticks = 0;
  std::uint32_t pid_namespace = 0;  // namespace of `pid`; 0 means unknown
  std::array<std::uint8_t, 16> boot_id{};
  std::uint64_t created_unix_ns = 0;
  std::uint64_t created_ns = 0;
  std::string name;
  std::string command;

  bool clean_exit = false;
  bool client_ended = false;     // only in a proxy segment: true if the client has ended
  std::uint32_t client_uid = 0;  // user of the client of a proxy segment
  std::int32_t last_error = 0;
  // Number of an event: all `allocations` and `programs` were live together at this event.
  std::uint64_t events = 0;
  std::uint64_t event_count = 0;  // number of events so far
  std::uint64_t dropped_allocations = 0;
  std::uint64_t dropped_programs = 0;
  std::uint64_t dropped_calls = 0;
  std::uint64_t dropped_names = 0;

  Job job{};
  std::optional<FailureImage> failure;
  std::vector<std::string>
      not_seen;  // sentences that say what the process does not report, and why

  // The number of records that contradict themselves and were ignored.
  std::uint64_t invalid_records = 0;

  std::vector<LeftAtCloseImage> left_at_close;  // of devices that are closed now
  std::vector<DevicePeaks> peaks;               // of all devices that were ever open
  std::vector<DeviceImage> devices;
  std::vector<LiveAllocation> allocations;
  std::vector<LiveProgram> programs;
  std::vector<LiveFootprint> footprints;
};

}  // namespace ttmem::segment
