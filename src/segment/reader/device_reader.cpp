// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/device_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/saturating.hpp"
#include "segment/reader/safe_text.hpp"
#include "segment/reader/stable_copy.hpp"

namespace ttmem::segment {
namespace {

// What `seq` covers and this version knows.
constexpr std::size_t kHeadBytes = offsetof(DeviceRecord, reserved1);

enum class Copied : std::uint8_t { whole, piecewise, cut_off };

// A writer may update its device every few dozen nanoseconds, so that no copy is ever of one
// moment. Every figure is an aligned word that is stored and copied whole (stable_copy.hpp), so the
// copy of the last try is still right figure by figure. The identity is written by device_open()
// alone: a reader that meets it in the act may see a mixture of what was known before and after,
// until its next pass.
Copied copy_part(const ByteSource& source, std::uint64_t offset, std::size_t bytes,
                 StableCopy& copy) {
  for (int i = 0; i < kStableTries; ++i) {
    if (!copy.load(source, offset, bytes)) return Copied::cut_off;
    std::uint32_t seq = 0;
    if (copy.sequenced(0, seq)) return Copied::whole;
  }
  return Copied::piecewise;
}

bool valid(const DeviceRecord& record) {
  return std::uint32_t{record.grid_x} * record.grid_y <= kMaxCores;
}

void copy_identity(const DeviceRecord& record, DeviceImage& device) {
  device.id = record.id;
  device.announced = record.announced == 1;
  device.uid = record.uid;
  device.arch = safe_text(std::string_view(record.arch, sizeof(record.arch)));
  device.board = safe_text(std::string_view(record.board, sizeof(record.board)));
  device.grid_x = record.grid_x;
  device.grid_y = record.grid_y;
  device.l1_bytes_per_core = record.l1_bytes_per_core;
  device.l1_base = record.l1_base;
  device.l1_small_bytes_per_core = record.l1_small_bytes_per_core;
  device.dram_channels = record.dram_channels;
  device.dram_bytes_per_channel = record.dram_bytes_per_channel;
  device.trace_region_bytes = record.trace_region_bytes;
  device.opened_ns = record.opened_ns;
}

void copy_figures(const DeviceRecord& record, DeviceImage& device) {
  std::copy(std::begin(record.kinds), std::end(record.kinds), device.kinds.begin());
  for (KindFigures& kind : device.kinds) {
    kind.peak_bytes = std::max(kind.peak_bytes, kind.used_bytes);
  }
  std::copy(std::begin(record.kernel_role_bytes), std::end(record.kernel_role_bytes),
            device.kernel_role_bytes.begin());
  device.kernel_estimated_bytes = record.kernel_estimated_bytes;
  device.l1_total_bytes = record.l1_total_bytes;
  device.l1_total_peak_bytes = std::max(record.l1_total_peak_bytes, record.l1_total_bytes);
  device.cb_physical_bytes = record.cb_physical_bytes;
  device.cb_physical_peak_bytes = std::max(record.cb_physical_peak_bytes, record.cb_physical_bytes);
  device.cb_resident_bytes = record.cb_resident_bytes;
  device.cb_resident_known =
      (record.unknown_figures & kResidentUnknown) == 0 || record.cb_physical_bytes == 0;
  device.cb_logical_bytes = record.cb_logical_bytes;
  device.programs = record.programs;
  device.unknown_frees = record.unknown_frees;
  device.allocs_over_live = record.allocs_over_live;
  device.unknown_programs = record.unknown_programs;
  device.bad_arguments = record.bad_arguments;
  device.left_at_close = record.left_at_close;
  device.left_at_close_bytes = record.left_at_close_bytes;
}

// Figures of different moments may contradict each other, also those that a killed writer left half
// changed. What is a sum of others is then made of them, and what contains another is at least it.
void reconcile(DeviceImage& device) {
  device.cb_logical_bytes = std::max(device.cb_logical_bytes, device.cb_physical_bytes);
  device.cb_resident_bytes = std::min(device.cb_resident_bytes, device.cb_physical_bytes);
  device.l1_total_bytes = device.cb_physical_bytes;
  for (const std::uint32_t kind : {kL1Kind, kL1SmallKind, kKernelKind}) {
    device.l1_total_bytes = saturating_add(device.l1_total_bytes, device.kinds[kind].used_bytes);
  }
  device.l1_total_peak_bytes = std::max(device.l1_total_peak_bytes, device.l1_total_bytes);
}

bool read_cores(const ByteSource& source, std::uint64_t offset, StableCopy& copy,
                DeviceImage& device) {
  const std::size_t count = std::size_t{device.grid_x} * device.grid_y;
  if (count == 0) return true;
  constexpr std::size_t first = offsetof(DeviceRecord, cores) - offsetof(DeviceRecord, cores_seq);
  const Copied copied = copy_part(source, offset + offsetof(DeviceRecord, cores_seq),
                                  first + count * sizeof(CoreFigures), copy);
  if (copied == Copied::cut_off) return false;
  device.cores_coherent = copied == Copied::whole;
  device.cores.resize(count);
  std::memcpy(device.cores.data(), copy.body(first), count * sizeof(CoreFigures));
  return true;
}

}  // namespace

CoreMask grid_mask(const DeviceImage& device) {
  const std::uint32_t count = std::uint32_t{device.grid_x} * device.grid_y;
  return CoreMask::first(count == 0 ? kMaxCores : count);
}

std::optional<OpenDevices> read_devices(const ByteSource& source, const SegmentMap& map) {
  OpenDevices open;
  const std::uint32_t count =
      std::min({map.header.device_count, map.devices.capacity(), kMaxDevices});
  open.of_record.resize(count);
  StableCopy copy;
  DeviceRecord record{};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t offset = map.devices.offset_of(i);
    const Copied copied = copy_part(source, offset, kHeadBytes, copy);
    if (copied == Copied::cut_off) return std::nullopt;
    std::memcpy(&record, copy.body(0), kHeadBytes);
    const bool closed = record.state == static_cast<std::uint32_t>(DeviceState::kClosed);
    if (closed && record.left_at_close != 0) {
      open.left_at_close.push_back({record.id, record.left_at_close, record.left_at_close_bytes});
    }
    if (record.state != static_cast<std::uint32_t>(DeviceState::kOpen)) continue;
    if (!valid(record)) {
      ++open.invalid_records;
      continue;
    }
    DeviceImage device;
    device.coherent = copied == Copied::whole;
    copy_identity(record, device);
    copy_figures(record, device);
    if (!device.coherent) reconcile(device);
    if (!read_cores(source, offset, copy, device)) return std::nullopt;
    open.of_record[i] = static_cast<std::uint32_t>(open.devices.size());
    open.devices.push_back(std::move(device));
  }
  return open;
}

}  // namespace ttmem::segment
