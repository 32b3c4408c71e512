// SPDX-License-Identifier: Apache-2.0
#include "read/recording/recorder/device_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/saturating.hpp"
#include "segment/reader/device_set_reader.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::recording {
namespace {

void copy_facts(const segment::DeviceImage& from, RecordedDevice& to) {
  to.uid = from.uid;
  to.arch = from.arch;
  to.board = from.board;
  to.grid_x = from.grid_x;
  to.grid_y = from.grid_y;
  to.l1_bytes_per_core = from.l1_bytes_per_core;
  to.l1_base = from.l1_base;
  to.l1_small_bytes_per_core = from.l1_small_bytes_per_core;
  to.dram_channels = from.dram_channels;
  to.dram_bytes_per_channel = from.dram_bytes_per_channel;
  to.trace_region_bytes = from.trace_region_bytes;
  for (const Kind kind : kAllKinds) {
    if (from.kinds[kind].known != 0) to.known_kinds |= 1U << static_cast<unsigned>(kind);
  }
}

}  // namespace

DeviceRecorder::Known& DeviceRecorder::known(std::uint32_t number) {
  Known& device = devices_[number];
  device.row.number = number;
  device.row.process = process_;
  return device;
}

RowId DeviceRecorder::open(std::uint32_t number, Time time) {
  const auto found = devices_.find(number);
  if (found != devices_.end() && found->second.is_open) return found->second.row.id;
  Known& device = known(number);
  // Reads the facts now, because the device may be closed before the next refresh().
  if (device.row.grid_x == 0) read_facts();
  device.is_open = true;
  device.set = 0;
  sets_.clear();
  device.last = {};
  device.row.begin_ns = time;
  device.row.end_ns.reset();
  device.row.l1_peak_bytes.reset();
  device.row.id = writer_.begin(device.row);
  return device.row.id;
}

RowId DeviceRecorder::close(std::uint32_t number, Time time) {
  const auto found = devices_.find(number);
  if (found == devices_.end() || !found->second.is_open) return 0;
  Known& device = found->second;
  device.is_open = false;
  sets_.clear();
  device.row.end_ns = time;
  writer_.change(device.row);
  // Without all events, the peak of this opening may be known to the process only. It is read now,
  // because the device may be opened again before the next refresh().
  if (has_gaps_) keep_peaks_of_closed();
  end_samples(device, time);
  return device.row.id;
}

RowId DeviceRecorder::set_of(std::uint32_t number, Time time) {
  const RowId row = open(number, time);
  Known& device = devices_[number];
  if (device.set == 0) device.set = set_of_rows({row});
  return device.set;
}

RowId DeviceRecorder::set_of_set(std::uint32_t set, Time time) {
  const auto known = sets_.find(set);
  if (known != sets_.end()) return known->second;
  auto numbers = numbers_of_.find(set);
  if (numbers == numbers_of_.end()) numbers = numbers_of_.emplace(set, read_set(set)).first;
  std::vector<RowId> rows;
  for (const std::uint32_t number : numbers->second) rows.push_back(open(number, time));
  return sets_[set] = set_of_rows(std::move(rows));
}

// Reads the device numbers of a set. The result may be kept, because a set never changes.
std::vector<std::uint32_t> DeviceRecorder::read_set(std::uint32_t set) const {
  std::vector<std::uint32_t> numbers;
  const auto map = segment::map_segment(source_);
  if (!map) return numbers;
  const auto devices = segment::read_devices(source_, *map);
  const auto mask = segment::DeviceSetReader(source_, *map).read(set);
  if (!devices || !mask) return numbers;
  mask->for_each([&](std::uint32_t record) {
    if (record < devices->id_of.size()) numbers.push_back(devices->id_of[record]);
  });
  return numbers;
}

RowId DeviceRecorder::set_of_rows(std::vector<RowId> devices) {
  std::sort(devices.begin(), devices.end());
  const RowId set = writer_.device_set(devices);
  rows_of_.try_emplace(set, std::move(devices));
  return set;
}

RowId DeviceRecorder::without(RowId set, RowId others) {
  if (set == others) return 0;
  const std::vector<RowId>& all = rows_of_[set];
  const std::vector<RowId>& gone = rows_of_[others];
  std::vector<RowId> rest;
  std::set_difference(all.begin(), all.end(), gone.begin(), gone.end(), std::back_inserter(rest));
  return rest.empty() ? 0 : set_of_rows(std::move(rest));
}

std::vector<std::uint32_t> DeviceRecorder::open_numbers() const {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, device] : devices_) {
    if (device.is_open) numbers.push_back(number);
  }
  return numbers;
}

void DeviceRecorder::read_facts() {
  const auto map = segment::map_segment(source_);
  const auto devices = map ? segment::read_devices(source_, *map) : std::nullopt;
  if (!devices) return;
  for (const segment::DeviceImage& image : devices->closed) describe(image);
  for (const segment::DeviceImage& image : devices->devices) describe(image);
}

void DeviceRecorder::refresh(Time time) {
  const auto map = segment::map_segment(source_);
  const auto devices = map ? segment::read_devices(source_, *map) : std::nullopt;
  if (!devices) return;
  used_bytes_ = 0;
  for (const segment::DeviceImage& image : devices->closed) describe(image);
  for (const segment::DevicePeaks& peaks : devices->peaks) keep_peaks(peaks, time);
  for (const segment::DeviceImage& image : devices->devices) {
    describe(image);
    sample(image, time);
    for (const Kind kind : kDeviceKinds) {
      used_bytes_ = saturating_add(used_bytes_, image.kinds[kind].used_bytes);
    }
  }
}

// Completes the row of a device. The device may be closed already: its life may be shorter than the
// time between two calls.
void DeviceRecorder::describe(const segment::DeviceImage& image) {
  Known& device = known(image.id);
  const RecordedDevice before = device.row;
  copy_facts(image, device.row);
  device.row.resident_known |= image.cb_resident_known && dispatches_recorded_;
  device.row.cb_estimate |= image.cb_estimate;
  if (device.row.id != 0 && !(device.row == before)) writer_.change(device.row);
}

void DeviceRecorder::sample(const segment::DeviceImage& image, Time time) {
  Known& device = known(image.id);
  if (!device.is_open) return;
  for (const Kind kind : kDeviceKinds) {
    const KindFigures& figures = image.kinds[kind];
    if (figures.known == 0) continue;
    std::uint64_t& highest = device.highest.kinds[kind];
    highest = std::max(highest, figures.peak_bytes);
    RecordedSample& last = device.last[kind];
    const bool same = last.device != 0 && last.used_bytes == figures.used_bytes &&
                      last.peak_bytes == figures.peak_bytes;
    if (same) continue;
    last = {.time_ns = time,
            .device = device.row.id,
            .kind = kind,
            .used_bytes = figures.used_bytes,
            .peak_bytes = figures.peak_bytes};
    writer_.add(last);
  }
  if (image.kinds[Kind::l1].known != 0) note_l1_peak(device, image.l1_total_peak_bytes);
}

void DeviceRecorder::note_l1_peak(Known& device, std::uint64_t bytes) {
  device.highest.l1_total = std::max(device.highest.l1_total, bytes);
  if (device.row.l1_peak_bytes == bytes) return;
  device.row.l1_peak_bytes = bytes;
  writer_.change(device.row);
}

bool DeviceRecorder::exceeds(const segment::DevicePeaks& peaks, const Peaks& highest) {
  return std::any_of(kDeviceKinds.begin(), kDeviceKinds.end(), [&](Kind kind) {
    return peaks.kinds[kind].value_or(0) > highest.kinds[kind];
  });
}

void DeviceRecorder::raise(Peaks& highest, const segment::DevicePeaks& peaks) {
  for (const Kind kind : kDeviceKinds) {
    highest.kinds[kind] = std::max(highest.kinds[kind], peaks.kinds[kind].value_or(0));
  }
  highest.l1_total = std::max(highest.l1_total, peaks.l1_total_bytes);
}

void DeviceRecorder::note_earlier_peaks(const segment::SegmentImage& image) {
  for (const segment::DevicePeaks& peaks : image.peaks) raise(known(peaks.id).highest, peaks);
}

void DeviceRecorder::note_peaks_of_gap(const segment::SegmentImage& image, Time time) {
  has_gaps_ = true;
  for (const segment::DevicePeaks& peaks : image.peaks) {
    Known& device = known(peaks.id);
    if (device.is_open) continue;  // during the whole gap
    // The peaks of the process include the peaks of the opening after the gap, which is no opening
    // of the gap.
    Peaks others = device.highest;
    const auto now = std::find_if(image.devices.begin(), image.devices.end(),
                                  [&](const auto& open) { return open.id == peaks.id; });
    const bool is_open_now = now != image.devices.end();
    if (is_open_now) {
      for (const Kind kind : kDeviceKinds) {
        others.kinds[kind] = std::max(others.kinds[kind], now->kinds[kind].peak_bytes);
      }
    }
    const bool is_higher = exceeds(peaks, others);
    const bool is_new = device.row.id == 0 && !is_open_now;
    const bool ended_in_gap = device.row.id != 0 && device.row.end_ns == time;
    if (is_new || (is_higher && !ended_in_gap)) {
      open(peaks.id, time);
      close(peaks.id, time);
    }
    if (is_higher) keep_peaks(peaks, time);
  }
}

void DeviceRecorder::keep_peaks_of_closed() {
  const auto map = segment::map_segment(source_);
  const auto devices = map ? segment::read_devices(source_, *map) : std::nullopt;
  if (!devices) return;
  for (const segment::DevicePeaks& peaks : devices->peaks) keep_peaks(peaks, kMaxTime);
}

// Writes the peaks of a closed device, which may have been closed before its first sample. The
// process keeps the highest peaks of all openings. If they are not new, they belong to an earlier
// row.
void DeviceRecorder::keep_peaks(const segment::DevicePeaks& peaks, Time time) {
  Known& device = known(peaks.id);
  if (device.row.id == 0 || device.is_open) return;
  if (peaks.kinds[Kind::l1] && peaks.l1_total_bytes > device.highest.l1_total) {
    note_l1_peak(device, peaks.l1_total_bytes);
  }
  for (const Kind kind : kDeviceKinds) {
    RecordedSample& last = device.last[kind];
    if (!peaks.kinds[kind] || *peaks.kinds[kind] <= device.highest.kinds[kind]) continue;
    device.highest.kinds[kind] = *peaks.kinds[kind];
    last = {.time_ns = std::min(time, device.row.end_ns.value_or(time)),
            .device = device.row.id,
            .kind = kind,
            .used_bytes = 0,
            .peak_bytes = *peaks.kinds[kind]};
    writer_.add(last);
  }
}

void DeviceRecorder::end_samples(Known& device, Time time) {
  for (RecordedSample& last : device.last) {
    if (last.device == 0 || last.used_bytes == 0) continue;
    last.time_ns = time;
    last.used_bytes = 0;
    writer_.add(last);
  }
}

}  // namespace ttmem::recording
