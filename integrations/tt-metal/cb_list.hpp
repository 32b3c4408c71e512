// SPDX-License-Identifier: Apache-2.0
//
// The circular buffers that a thread reports in a row, chip by chip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tt-metalium/core_coord.hpp>
#include <vector>

#include "open_chips.hpp"
#include "placed_program.hpp"

namespace ttmem::tt_metal {

// One program's list, as far as that can be told. The hooks name neither a program nor the end of
// its list, and report each circular buffer once for each chip: one after the other on all chips,
// or all of them chip by chip.
//
// Those of one program never overlap, and the first of them that is no view lies at the lowest
// address. A circular buffer that overlaps another, or that is not what the other chips had in its
// place, is therefore of another list.
class CbList {
 public:
  // `cb` was reported on `chip`. False if it is of another list, which begins; then this one is
  // complete and has not changed. A list that is known to have `length` ends there; 0: not known.
  [[nodiscard]] bool add(const ProgramCb& cb, std::uint32_t chip, std::size_t length);
  // The same for a circular buffer that add() has just taken on another chip: cheaper, because most
  // of the events of a mesh are of this kind. False if it is anything else.
  [[nodiscard]] bool repeat(const ::tt::tt_metal::CoreRangeSet& cores, std::uint64_t address,
                            std::uint64_t bytes, bool is_view, std::uint32_t chip);

  [[nodiscard]] bool empty() const { return cbs_.empty(); }
  [[nodiscard]] const std::vector<ProgramCb>& cbs() const { return cbs_; }
  [[nodiscard]] ChipNumbers chips() const;
  // Every chip has all of them.
  [[nodiscard]] bool is_even() const { return full_ == chips_.size(); }
  [[nodiscard]] std::size_t chip_count() const { return chips_.size(); }
  // There is a place where the list of another program may begin.
  [[nodiscard]] bool may_be_two() const { return may_be_two_ || ends_with_views_; }
  // The list from its `count`th circular buffer on.
  [[nodiscard]] CbList after(std::size_t count) const;

 private:
  struct OnChip {
    std::uint32_t chip;
    std::size_t count;  // how many of the list it has
  };
  OnChip* find(std::uint32_t chip);
  void count_one(OnChip& on);
  [[nodiscard]] bool overlaps(const ProgramCb& cb) const;
  void lengthen(const ProgramCb& cb);

  std::vector<ProgramCb> cbs_;
  std::vector<OnChip> chips_;
  std::size_t next_ = 0;  // the chip that is likely to come next
  std::size_t full_ = 0;  // how many chips have all
  std::uint64_t lowest_ = 0;
  bool has_own_ = false;  // one that is no view; `lowest_` is the lowest address of those
  bool may_be_two_ = false;
  bool ends_with_views_ = false;  // that follow others
};

}  // namespace ttmem::tt_metal
