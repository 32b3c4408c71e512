// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "read/recording/file/writer.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/device_reader.hpp"

namespace ttmem::recording {

// The devices of one process as rows of the recording: a new one each time that a device is opened.
// Not thread-safe; `source` and `writer` must outlive it.
class DeviceRecorder {
 public:
  DeviceRecorder(const segment::ByteSource& source, Writer& writer)
      : source_(source), writer_(writer) {}
  void set_process(RowId process) { process_ = process; }
  void set_dispatches_recorded(bool recorded) { dispatches_recorded_ = recorded; }

  // The row of an open device; opens it when nobody has said that it is open.
  RowId open(std::uint32_t number, Time time);
  // 0 when it is not open.
  RowId close(std::uint32_t number, Time time);

  // The set of devices, in the recording, of one device, or of a set of the segment.
  [[nodiscard]] RowId set_of(std::uint32_t number, Time time);
  [[nodiscard]] RowId set_of_set(std::uint32_t set, Time time);
  [[nodiscard]] RowId set_of_rows(std::vector<RowId> devices);
  // A set without the devices of another; 0: nothing is left.
  [[nodiscard]] RowId without(RowId set, RowId others);
  [[nodiscard]] std::vector<std::uint32_t> open_numbers() const;

  // Reads what the process says of its devices by now. Writes what has changed, and a sample of
  // each kind that has.
  void refresh(Time time);

  // Bytes on all devices together, when refresh() was last called.
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }

 private:
  struct Known {
    RecordedDevice row;
    RowId set = 0;  // of this device alone
    bool is_open = false;
    PerKind<RecordedSample> last{};  // sample that was written
  };

  Known& known(std::uint32_t number);
  [[nodiscard]] std::vector<std::uint32_t> read_set(std::uint32_t set) const;
  void read_facts();
  void describe(const segment::DeviceImage& image);
  void sample(const segment::DeviceImage& image, Time time);
  void keep_peaks(const segment::DevicePeaks& peaks, Time time);
  void end_samples(Known& device, Time time);

  const segment::ByteSource& source_;
  Writer& writer_;
  RowId process_ = 0;
  bool dispatches_recorded_ = false;
  std::map<std::uint32_t, Known> devices_;                          // by number
  std::map<std::uint32_t, std::vector<std::uint32_t>> numbers_of_;  // by set of the segment
  std::map<std::uint32_t, RowId>
      sets_;  // the same as sets of the recording, while none opens or closes
  std::map<RowId, std::vector<RowId>> rows_of_;  // by set of the recording
  std::uint64_t used_bytes_ = 0;
};

}  // namespace ttmem::recording
