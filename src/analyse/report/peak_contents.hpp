// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/report/chip_figures.hpp"
#include "analyse/report/holders.hpp"
#include "analyse/report/live_counts.hpp"
#include "analyse/report/report.hpp"
#include "base/result.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::report {

using recording::Chips;
using recording::Tables;

// The second pass over a recording: finds the allocations and programs that were live at the peaks
// of DRAM and L1. Reads the rows in the order of the file, and adds each row to the peaks at which
// it was live. Not thread-safe; the arguments must outlive this object.
class PeakContents {
 public:
  PeakContents(const Tables& tables, const Chips& chips, std::vector<DeviceReport>& devices)
      : tables_(tables), chips_(chips), devices_(devices) {}

  // Adds the peaks of a chip. Must be called for each chip before read().
  void add_chip(std::uint32_t chip, const ChipFigures& figures);
  // Fills in at_dram_peak and at_l1_peak of the devices. Fails if `room` is too small.
  [[nodiscard]] Result<void> read(const recording::Reader& reader, HolderRoom& room);

 private:
  // The contents at the moment of a peak. Chips that reach their peaks at the same moment, as in a
  // mesh, share one Look.
  struct Look {
    Moment at;
    std::vector<std::uint32_t> dram;  // chips whose DRAM peak is at this moment
    std::vector<std::uint32_t> l1;    // chips whose L1 peak is at this moment
    LiveCounts live;
    std::vector<recording::RecordedProgram> programs;
  };
  template <typename Row, typename Visitor>
  void for_each_look(const Row& row, recording::Event::Type begin, recording::Event::Type end,
                     Visitor visit);
  [[nodiscard]] static RowId devices_at(const recording::RecordedAllocation& row, const Moment& at);
  [[nodiscard]] Look& look(const Moment& at);
  [[nodiscard]] bool fill_in(const Look& look, HolderRoom& room);
  [[nodiscard]] std::vector<Holder> l1_holders(const Look& look, std::uint32_t chip) const;

  const Tables& tables_;
  const Chips& chips_;
  std::vector<DeviceReport>& devices_;
  std::vector<Look> looks_;  // sorted by moment
};

}  // namespace ttmem::report
