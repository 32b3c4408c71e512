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

// An open device, with its figures as in the record. No peak is below its current figure. All
// figures of a kind are known, or none; then they are 0.
struct DeviceImage : DeviceFigures {
  DeviceImage() : DeviceFigures{} {}

  // True if all figures are of one moment. Under constant writing they are not: then each figure is
  // right by itself, and the moments differ by microseconds. `cores_coherent` is for `cores`.
  bool coherent = true;
  bool cores_coherent = true;

  // Zero or empty is unknown.
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

  bool cb_resident_known = true;   // false: `cb_resident_bytes` and that of `cores` mean nothing
  bool programs_known = true;      // false: `programs` means nothing
  bool cb_estimate = false;        // the figures of the CBs are one
  std::vector<CoreFigures> cores;  // grid_x * grid_y, row by row; empty when the grid is unknown
};

// A live buffer or kernel.
struct LiveAllocation {
  std::uint32_t slot = 0;              // in the segment
  std::uint32_t device = 0;            // index into SegmentImage::devices
  std::vector<std::uint32_t> devices;  // of a mesh: all of them, `device` first; else empty
  Kind kind = Kind::dram;
  std::uint8_t role = 0;  // kernels: ttmem_kernel_role
  std::uint64_t when_ns = 0;
  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> bytes_per_bank;
  std::optional<std::uint32_t> banks;
  std::optional<CoreMask> cores;  // where its bytes lie; none: in every bank
  bool own_banks = false;         // takes the banks of `cores` only; else every bank
  bool estimate = false;          // `bytes` is one
  BufferLayout layout{};
  std::string label;
  std::string scope;               // "decoder.0/attention"; empty: none
  std::uint32_t scope_number = 0;  // in the segment; 0: none
  ScopeVisit visit;                // of that scope
};

// The devices that it lies on. Its sizes are those on each of them.
[[nodiscard]] inline std::span<const std::uint32_t> devices_of(const LiveAllocation& allocation) {
  if (allocation.devices.empty()) return {&allocation.device, 1};
  return allocation.devices;
}

struct Cb {
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;  // on each core
  bool global = false;      // a view on an L1 buffer
  CoreMask cores;
};

// The CBs of all programs that have the same ones.
using Footprint = std::vector<Cb>;

// A live program on one device.
struct LiveProgram {
  std::uint32_t slot = 0;       // in the segment
  std::uint32_t device = 0;     // index into SegmentImage::devices
  std::uint32_t footprint = 0;  // index into SegmentImage::footprints
  std::uint32_t resident_cores = 0;
  std::uint64_t when_ns = 0;
  std::uint64_t program = 0;
  std::string name;                // empty: none
  std::string scope;               // in which it was placed; empty: none
  std::uint32_t scope_number = 0;  // as of an allocation
  ScopeVisit visit;
};

// What a process had not freed when it closed a device, summed over all times that it did. An open
// device has the same figures in its DeviceImage.
struct LeftAtClose {
  std::uint32_t device_id = 0;
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
};

// The most that a process had on a device, over all times that it had it open; a kind that it never
// reported is unknown.
struct DevicePeaks {
  std::uint32_t id = 0;
  std::uint64_t l1_total_bytes = 0;
  PerKind<std::optional<std::uint64_t>> kinds{};
  std::uint64_t left_at_close = 0;  // as in LeftAtClose
  std::uint64_t left_at_close_bytes = 0;
};

// The last time that memory did not suffice.
struct FailureImage {
  std::uint64_t number = 0;  // of failures so far
  std::uint64_t when_ns = 0;
  std::uint64_t when_unix_ns = 0;
  std::uint64_t not_kept = 0;       // of them, those whose state was not kept
  std::int32_t not_kept_error = 0;  // why that of the last one was not, an errno; 0: it was
  std::string run;                  // the `ttmem run` that the process belongs to; empty: none
  std::string text;                 // may have several lines
};

struct SegmentImage {
  std::int32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint64_t start_time_ticks = 0;
  std::uint32_t pid_namespace = 0;  // of `pid`; 0: unknown
  std::array<std::uint8_t, 16> boot_id{};
  std::uint64_t created_unix_ns = 0;
  std::uint64_t created_ns = 0;
  std::string name;
  std::string command;

  bool clean_exit = false;
  bool client_ended = false;     // of a proxy segment: not only its server
  std::uint32_t client_uid = 0;  // of a proxy segment
  std::int32_t last_error = 0;
  std::uint64_t events = 0;       // `allocations` and `programs` were alive together at this event
  std::uint64_t event_count = 0;  // events so far
  std::uint64_t dropped_allocations = 0;
  std::uint64_t dropped_programs = 0;
  std::uint64_t dropped_calls = 0;
  std::uint64_t dropped_names = 0;

  Job job{};
  std::optional<FailureImage> failure;
  std::vector<std::string> not_seen;  // what the process does not report, and why: sentences

  // Records that contradict themselves and were ignored.
  std::uint64_t invalid_records = 0;

  std::vector<LeftAtClose> left_at_close;  // of the devices that are closed now
  std::vector<DevicePeaks> peaks;          // of all devices that were ever open
  std::vector<DeviceImage> devices;
  std::vector<LiveAllocation> allocations;
  std::vector<LiveProgram> programs;
  std::vector<Footprint> footprints;
};

}  // namespace ttmem::segment
