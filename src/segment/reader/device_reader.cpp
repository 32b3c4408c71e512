// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/device_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/safe_text.hpp"
#include "base/saturating.hpp"
#include "segment/reader/stable_copy.hpp"

namespace ttmem::segment {
namespace {

// The size of the part of a record that `seq` covers and that this version knows.
constexpr std::size_t kHeadBytes = offsetof(DeviceRecord, reserved1);

enum class Copied : std::uint8_t { whole, piecewise, cut_off };

// Copies the part of a record that one sequence number covers. If the writer updates the record
// every few dozen nanoseconds, every copy mixes figures of several moments, and the result is
// `piecewise`. No single figure is torn, because each figure is an aligned word that is stored and
// copied whole (stable_copy.hpp). Only device_open() writes the identity of the device. A reader
// that runs at the same time may see a mixture of the old and the new identity until its next pass.
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
  static_cast<DeviceFigures&>(device) = record.figures;
  for (KindFigures& kind : device.kinds) {
    if (kind.known == 0) kind = {};
    if (kind.known != 0) kind.known = kAllFigures;
    kind.peak_bytes = std::max(kind.peak_bytes, kind.used_bytes);
  }
  device.l1_total_peak_bytes = std::max(device.l1_total_peak_bytes, device.l1_total_bytes);
  device.anomalies.overlapping_buffers = 0;  // the collector computes this number
  device.cb_resident_known = record.resident_reported != 0;
  device.programs_known = record.programs_reported != 0;
  device.cb_estimate = record.cb_estimate != 0;
}

// Makes the figures of an incoherent record consistent. The figures may contradict each other,
// because they are of different moments, or because the writer was killed during a change. Computes
// Total L1 again from its parts, and corrects a figure that must not be below, or above, another
// figure.
void reconcile(DeviceImage& device) {
  KindFigures& cbs = device.kinds[Kind::cb];
  cbs.logical_bytes = std::max(cbs.logical_bytes, cbs.used_bytes);
  device.cb_resident_bytes = std::min(device.cb_resident_bytes, cbs.used_bytes);
  device.l1_total_bytes = 0;
  for (const Kind kind : kAllKinds) {
    if (!is_in_l1(kind)) continue;
    device.l1_total_bytes = saturating_add(device.l1_total_bytes, device.kinds[kind].used_bytes);
  }
  device.l1_total_peak_bytes = std::max(device.l1_total_peak_bytes, device.l1_total_bytes);
}

DevicePeaks peaks_of(const DeviceRecord& record) {
  const DeviceFigures& now = record.figures;
  DevicePeaks peaks;
  peaks.id = record.id;
  peaks.l1_total_bytes =
      std::max({record.past_peaks.l1_total_bytes, now.l1_total_peak_bytes, now.l1_total_bytes});
  for (const Kind kind : kAllKinds) {
    const KindFigures& figures = now.kinds[kind];
    if (figures.known == 0) continue;
    peaks.kinds[kind] =
        std::max({record.past_peaks.kinds[kind], figures.peak_bytes, figures.used_bytes});
  }
  peaks.left_at_close = now.anomalies.left_at_close;
  peaks.left_at_close_bytes = now.anomalies.left_at_close_bytes;
  return peaks;
}

// A part of a device record. The sequence number at the beginning of the part covers the part.
struct Part {
  const std::byte* bytes;
  bool whole;  // false: the figures may be of different moments
};

// The device records of one chunk. Reads all records of the chunk together, and reads a single
// record again if its copy is torn.
class DeviceChunk {
 public:
  // Returns false if the file is truncated.
  [[nodiscard]] bool load(const ByteSource& source, std::uint64_t offset, std::uint32_t records) {
    offset_ = offset;
    return block_.load(source, offset, records * sizeof(DeviceRecord));
  }

  // Returns the bytes of record `index` from byte `at` on, or nullopt if the file is truncated. The
  // bytes are valid until the next call.
  [[nodiscard]] std::optional<Part> part(const ByteSource& source, std::uint32_t index,
                                         std::size_t at, std::size_t bytes) {
    const std::size_t place = index * sizeof(DeviceRecord) + at;
    std::uint32_t seq = 0;
    if (block_.sequenced(place, seq)) return Part{block_.body(place), true};
    const Copied copied = copy_part(source, offset_ + place, bytes, single_);
    if (copied == Copied::cut_off) return std::nullopt;
    return Part{single_.body(0), copied == Copied::whole};
  }

 private:
  std::uint64_t offset_ = 0;
  StableCopy block_;
  StableCopy single_;
};

// Reads all device records once.
class DevicePass {
 public:
  explicit DevicePass(const ByteSource& source) : source_(source) {}

  // Returns false if the file is truncated.
  [[nodiscard]] bool read(const RecordPlaces& places, std::uint32_t count) {
    open_.of_record.resize(count);
    open_.id_of.resize(count);
    for (std::uint32_t first = 0; first < count; first += places.records_per_chunk()) {
      const std::uint32_t here = std::min(places.records_per_chunk(), count - first);
      if (!chunk_.load(source_, places.offset_of(first), here)) return false;
      for (std::uint32_t i = 0; i < here; ++i) {
        if (!read_record(first + i, i)) return false;
      }
    }
    return true;
  }

  OpenDevices take() { return std::move(open_); }

 private:
  [[nodiscard]] bool read_record(std::uint32_t record_index, std::uint32_t in_chunk) {
    const std::optional<Part> head = chunk_.part(source_, in_chunk, 0, kHeadBytes);
    if (!head) return false;
    std::memcpy(static_cast<void*>(&record_), head->bytes, kHeadBytes);
    const Anomalies& left = record_.figures.anomalies;
    const bool closed = record_.state == static_cast<std::uint32_t>(DeviceState::closed);
    if (closed && left.left_at_close != 0) {
      open_.left_at_close.push_back({record_.id, left.left_at_close, left.left_at_close_bytes});
    }
    const bool open = record_.state == static_cast<std::uint32_t>(DeviceState::open);
    open_.id_of[record_index] = record_.id;
    if (open || closed) open_.peaks.push_back(peaks_of(record_));
    if (!open && !closed) return true;
    if (!valid(record_)) {
      if (open) ++open_.invalid_records;
      return true;
    }
    DeviceImage& device = (open ? open_.devices : open_.closed).emplace_back();
    device.coherent = head->whole;
    copy_identity(record_, device);
    copy_figures(record_, device);
    if (!open) return true;
    open_.of_record[record_index] = static_cast<std::uint32_t>(open_.devices.size() - 1);
    if (!device.coherent) reconcile(device);
    return read_cores(in_chunk, device);
  }

  [[nodiscard]] bool read_cores(std::uint32_t in_chunk, DeviceImage& device) {
    const std::size_t count = std::size_t{device.grid_x} * device.grid_y;
    if (count == 0) return true;
    constexpr std::size_t first = offsetof(DeviceRecord, cores) - offsetof(DeviceRecord, cores_seq);
    const std::optional<Part> cores = chunk_.part(
        source_, in_chunk, offsetof(DeviceRecord, cores_seq), first + count * sizeof(CoreFigures));
    if (!cores) return false;
    device.cores_coherent = cores->whole;
    device.cores.resize(count);
    std::memcpy(device.cores.data(), cores->bytes + first, count * sizeof(CoreFigures));
    return true;
  }

  const ByteSource& source_;
  DeviceChunk chunk_;
  DeviceRecord record_{};  // valid up to kHeadBytes
  OpenDevices open_;
};

}  // namespace

CoreMask grid_mask(const DeviceImage& device) {
  const std::uint32_t count = std::uint32_t{device.grid_x} * device.grid_y;
  return CoreMask::first(count == 0 ? kMaxCores : count);
}

std::optional<OpenDevices> read_devices(const ByteSource& source, const SegmentMap& map) {
  const std::uint32_t count =
      std::min({map.header.device_count, map.devices.capacity(), kMaxDevices});
  DevicePass pass(source);
  if (!pass.read(map.devices, count)) return std::nullopt;
  return pass.take();
}

}  // namespace ttmem::segment
