// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "read/recording/file/rows.hpp"
#include "read/recording/file/tables.hpp"
#include "read/recording/playback/placed_programs.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/segment_image.hpp"
#include "track/ledger/footprint.hpp"

namespace ttmem::recording {

// The figures of one device of one process while its recording is played. The figures equal the
// figures that the process had in its segment, because both follow the rules of the tracker. Not
// thread-safe; the arguments must outlive this object.
class DevicePlayback {
 public:
  DevicePlayback(const Tables& tables, const RecordedDevice& device,
                 ledger::FootprintTable& footprints);

  void add(const RecordedRequest& request);
  void remove(const RecordedRequest& request);
  void place(const RecordedProgram& program);
  void remove(const RecordedProgram& program);
  void dispatch(const Launch& launch);
  // Removes the programs that PlacedPrograms::settle() removes.
  void settle();

  void open() { is_open_ = true; }
  void close() { is_open_ = false; }
  [[nodiscard]] bool is_open() const { return is_open_; }

  // Returns the image that a reader of the segment would have seen.
  [[nodiscard]] segment::DeviceImage image() const;
  [[nodiscard]] PlacedPrograms& programs() { return programs_; }

 private:
  void account(const RecordedRequest& request, bool add);
  void account_programs();

  const RecordedDevice& device_;
  bool is_open_ = false;
  segment::DeviceFigures figures_{};
  PlacedPrograms programs_;
};

}  // namespace ttmem::recording
