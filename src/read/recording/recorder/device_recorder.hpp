// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "read/recording/file/writer.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/device_reader.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::recording {

// The devices of one process as rows of the recording. Each opening of a device is a new row. Not
// thread-safe; `source` and `writer` must outlive this object.
class DeviceRecorder {
 public:
  DeviceRecorder(const segment::ByteSource& source, Writer& writer)
      : source_(source), writer_(writer) {}
  void set_process(RowId process) { process_ = process; }
  void set_dispatches_recorded(bool recorded) { dispatches_recorded_ = recorded; }

  // Returns the row of an open device. Opens the device if no event has opened it.
  RowId open(std::uint32_t number, Time time);
  // Closes a device and returns its row, or 0 if it is not open.
  RowId close(std::uint32_t number, Time time);

  // Return a device set of the recording: for one device, for a set of the segment, or for rows.
  [[nodiscard]] RowId set_of(std::uint32_t number, Time time);
  [[nodiscard]] RowId set_of_set(std::uint32_t set, Time time);
  [[nodiscard]] RowId set_of_rows(std::vector<RowId> devices);
  // Returns set `set` without the devices of set `others`, or 0 if no device is left.
  [[nodiscard]] RowId without(RowId set, RowId others);
  [[nodiscard]] std::vector<std::uint32_t> open_numbers() const;

  // Returns when an open device was opened.
  [[nodiscard]] Time begin_of(std::uint32_t number) const {
    return devices_.at(number).row.begin_ns;
  }

  // Notes the peaks from before the recording, which belong to no row.
  void note_earlier_peaks(const segment::SegmentImage& image);
  // Notes the peaks of a gap. Close the rows that ended in the gap, at `time`, before this call.
  // Adds a row for a device that was opened and closed in the gap.
  void note_peaks_of_gap(const segment::SegmentImage& image, Time time);

  // Reads the present facts and figures of the devices. Writes changed facts, and a sample of each
  // kind whose figures changed.
  void refresh(Time time);

  // Returns the used bytes of all devices together at the last refresh().
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }

 private:
  struct Peaks {
    PerKind<std::uint64_t> kinds{};
    std::uint64_t l1_total = 0;
  };
  struct Known {
    RecordedDevice row;
    RowId set = 0;  // set of this device alone
    bool is_open = false;
    PerKind<RecordedSample> last{};  // the samples written last
    Peaks highest;                   // the highest known peaks, of all openings
  };

  Known& known(std::uint32_t number);
  [[nodiscard]] std::vector<std::uint32_t> read_set(std::uint32_t set) const;
  void read_facts();
  void describe(const segment::DeviceImage& image);
  void sample(const segment::DeviceImage& image, Time time);
  static bool exceeds(const segment::DevicePeaks& peaks, const Peaks& highest);
  static void raise(Peaks& highest, const segment::DevicePeaks& peaks);
  void note_l1_peak(Known& device, std::uint64_t bytes);
  void keep_peaks(const segment::DevicePeaks& peaks, Time time);
  void keep_peaks_of_closed();
  void end_samples(Known& device, Time time);

  const segment::ByteSource& source_;
  Writer& writer_;
  RowId process_ = 0;
  bool dispatches_recorded_ = false;
  bool has_gaps_ = false;
  std::map<std::uint32_t, Known> devices_;                          // by number
  std::map<std::uint32_t, std::vector<std::uint32_t>> numbers_of_;  // by set of the segment
  // The device sets of the recording by the number of the set in the segment. Cleared when a device
  // is opened or closed.
  std::map<std::uint32_t, RowId> sets_;
  std::map<RowId, std::vector<RowId>> rows_of_;  // by set of the recording
  std::uint64_t used_bytes_ = 0;
};

}  // namespace ttmem::recording
