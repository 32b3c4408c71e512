// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "read/recording/file/rows.hpp"
#include "read/recording/file/tables.hpp"
#include "track/ledger/device_ledger.hpp"
#include "track/ledger/footprint.hpp"

namespace ttmem::recording {

// The programs on one device of a recording, in a ledger of the class that also computes the live
// figures.
//
// A program that gets another layout ends as `changed` and begins again at the same time. The
// program keeps its resident cores, so remove() does not remove it at once: place() replaces its
// layout, or settle() removes the program.
//
// Not thread-safe; `tables` and `footprints` must outlive this object.
class PlacedPrograms {
 public:
  PlacedPrograms(const Tables& tables, const RecordedDevice& device,
                 ledger::FootprintTable& footprints);

  // Places a program. A program of unknown layout uses no bytes and is not placed.
  void place(const RecordedProgram& program);
  void remove(const RecordedProgram& program);
  void dispatch(const Launch& launch);
  // Removes the programs that ended as `changed` and were not placed again. Call it before time
  // moves on. Returns false if there was nothing to remove.
  bool settle();

  // Removes all programs. Call it before a closed device is used again.
  void clear();

  [[nodiscard]] ledger::DeviceLedger& ledger() { return *ledger_; }
  [[nodiscard]] const ledger::DeviceLedger& ledger() const { return *ledger_; }

 private:
  [[nodiscard]] ledger::FootprintRef footprint_of(RowId layout);
  [[nodiscard]] std::vector<ledger::Cb> decode(const Layout& layout) const;
  bool remove_row(std::uint64_t number, std::uint32_t row);

  struct Change {
    std::uint64_t number = 0;
    std::uint32_t row = 0;
  };

  const Tables& tables_;
  ledger::FootprintTable& footprints_;
  std::uint32_t cores_;
  std::uint32_t l1_end_;
  std::unique_ptr<ledger::DeviceLedger> ledger_;
  std::vector<Change> changes_;
};

// Returns the number of compute cores of a device, or the maximum number of cores if the grid is
// unknown or impossible.
[[nodiscard]] std::uint32_t core_count(const RecordedDevice& device);

}  // namespace ttmem::recording
