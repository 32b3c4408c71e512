// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/report/chip_figures.hpp"
#include "analyse/report/live_counts.hpp"
#include "analyse/report/mark_growth.hpp"
#include "analyse/report/request_history.hpp"
#include "analyse/report/row_programs.hpp"
#include "analyse/report/shared_places.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/story.hpp"

namespace ttmem::report {

using recording::Chips;
using recording::Tables;

// The first pass over a recording: finds the extremes of every chip, the memory that was left at
// the end, and how often each request was made. Not thread-safe; the arguments must outlive this
// object.
class StoryFigures {
 public:
  StoryFigures(const Tables& tables, const Chips& chips);

  // Must be called for every event, in order.
  void apply(const recording::Event& event);
  // Must be called once, after the last event.
  void finish();

  [[nodiscard]] const ChipFigures& chip(std::uint32_t chip) const { return figures_[chip]; }
  [[nodiscard]] const RequestHistory& requests() const { return requests_; }
  [[nodiscard]] const MarkGrowth& growth() const { return growth_; }
  // live() returns the allocations that are live now. left() returns the allocations that were
  // still live when their device was closed or their process ended.
  [[nodiscard]] const LiveCounts& live() const { return live_; }
  [[nodiscard]] const LiveCounts& left() const { return left_; }
  [[nodiscard]] RowPrograms& programs() { return programs_; }
  [[nodiscard]] std::uint64_t unknown_programs() const { return unknown_programs_; }

 private:
  void open_or_close(const recording::Event& event);
  void allocate(const recording::RecordedAllocation& allocation);
  void free(const recording::Event& event);
  void change_places(const recording::RecordedAllocation& allocation, bool add);
  [[nodiscard]] const std::vector<std::uint32_t>& chips_with(
      const recording::RecordedAllocation& allocation) const {
    return chips_.of_set[static_cast<std::size_t>(allocation.devices - 1)];
  }
  void programs_changed(const RowPrograms::Changed& changed);
  void settle(Time now);

  const Tables& tables_;
  const Chips& chips_;
  std::vector<ChipFigures> figures_;
  SharedPlaces places_;
  RequestHistory requests_;
  MarkGrowth growth_;
  LiveCounts live_;
  LiveCounts left_{LiveCounts::By::device};
  RowPrograms programs_;
  std::uint64_t unknown_programs_ = 0;
  Moment now_;
};

}  // namespace ttmem::report
