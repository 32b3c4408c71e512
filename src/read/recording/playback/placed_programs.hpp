// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "read/recording/file/rows.hpp"
#include "read/recording/file/tables.hpp"
#include "track/ledger/device_ledger.hpp"
#include "track/ledger/footprint.hpp"

namespace ttmem::recording {

// The programs on one device of a recording, with the ledger that live figures come from.
//
// A program that gets another layout ends as `changed` and begins again at the same time. It stays
// where it was dispatched to, so its end is put off: until place(), or until settle().
//
// Not thread-safe; `tables` and `footprints` must outlive it.
class PlacedPrograms {
 public:
  PlacedPrograms(const Tables& tables, const RecordedDevice& device,
                 ledger::FootprintTable& footprints);

  // A program of unknown layout takes nothing and is not placed.
  void place(const RecordedProgram& program);
  void remove(const RecordedProgram& program);
  void dispatch(const Launch& launch);
  // Time goes on: what was to change and did not is gone. False: there was nothing to do.
  bool settle();

  // Call before the device is used again after it was closed.
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

// The compute cores of a device; all that a mask can name when its grid is unknown or impossible.
[[nodiscard]] std::uint32_t core_count(const RecordedDevice& device);

}  // namespace ttmem::recording
