// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/report/chip_figures.hpp"
#include "analyse/report/chips.hpp"
#include "analyse/report/holders.hpp"
#include "analyse/report/live_counts.hpp"
#include "analyse/report/report.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::report {

// The second pass over a recording: what was there at the peaks of DRAM and L1. It goes over the
// rows as they lie in the file, and asks of each which peaks it saw. Not thread-safe; the arguments
// must outlive it.
class PeakContents {
 public:
  PeakContents(const Tables& tables, const Chips& chips, std::vector<DeviceReport>& devices)
      : tables_(tables), chips_(chips), devices_(devices) {}

  // Call for each chip first.
  void look_at(std::uint32_t chip, const ChipFigures& figures);
  // Fills in at_dram_peak and at_l1_peak of the devices, until `room` is taken.
  [[nodiscard]] Result<void> read(const recording::Reader& reader, HolderRoom& room);

 private:
  // A peak. Chips of a mesh have theirs at the same moment and share one.
  struct Look {
    Moment at;
    std::vector<std::uint32_t> dram;  // chips
    std::vector<std::uint32_t> l1;
    LiveCounts live;
    std::vector<recording::Program> programs;
  };
  template <typename Row, typename Visitor>
  void for_each_look(const Row& row, recording::Event::Type begin, recording::Event::Type end,
                     Visitor visit);
  [[nodiscard]] Look& look(const Moment& at);
  [[nodiscard]] bool fill_in(const Look& look, HolderRoom& room);
  [[nodiscard]] std::vector<Holder> l1_holders(const Look& look, std::uint32_t chip) const;

  const Tables& tables_;
  const Chips& chips_;
  std::vector<DeviceReport>& devices_;
  std::vector<Look> looks_;  // by moment
};

}  // namespace ttmem::report
