// SPDX-License-Identifier: Apache-2.0
// The circular buffers that a thread reports one after the other, for each chip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tt-metalium/core_coord.hpp>
#include <vector>

#include "open_chips.hpp"
#include "placed_program.hpp"

namespace ttmem::tt_metal {

// The circular buffers of one program, as far as they can be told from those of the next program.
// The hooks do not report which program a circular buffer belongs to, or where the list of a
// program ends. They report each circular buffer once for each chip. The order is either one
// circular buffer on all chips, then the next circular buffer; or all circular buffers on one chip,
// then the next chip.
//
// The circular buffers of one program never overlap, and the first one that is not a view has the
// lowest address. A circular buffer belongs to another list if it overlaps a circular buffer of
// this list, or if it differs from the circular buffer at the same position on other chips.
class CbList {
 public:
  // Adds `cb`, which was reported on `chip`. If `cb` belongs to another list, returns false and
  // changes nothing; this list is then complete. `length` is the number of circular buffers in the
  // whole list, or 0 if it is unknown.
  [[nodiscard]] bool add(const ProgramCb& cb, std::uint32_t chip, std::size_t length);
  // A faster add() for a circular buffer that equals the circular buffer at the same position on
  // another chip. Most events of a mesh are of this kind. In all other cases, returns false and
  // changes nothing.
  [[nodiscard]] bool repeat(const ::tt::tt_metal::CoreRangeSet& cores, std::uint64_t address,
                            std::uint64_t bytes, bool is_view, std::uint32_t chip);

  [[nodiscard]] bool empty() const { return cbs_.empty(); }
  [[nodiscard]] const std::vector<ProgramCb>& cbs() const { return cbs_; }
  [[nodiscard]] ChipNumbers chips() const;
  // Returns true if every chip has the whole list.
  [[nodiscard]] bool is_even() const { return complete_chips_ == chips_.size(); }
  [[nodiscard]] std::size_t chip_count() const { return chips_.size(); }
  // Returns true if the list of another program may begin somewhere in this list.
  [[nodiscard]] bool may_have_two_programs() const {
    return may_have_two_programs_ || ends_with_views_;
  }
  // Returns the list without its first `count` circular buffers.
  [[nodiscard]] CbList after(std::size_t count) const;

 private:
  struct OnChip {
    std::uint32_t chip;
    std::size_t count;  // number of circular buffers of the list that were reported on the chip
  };
  OnChip* find(std::uint32_t chip);
  void advance(OnChip& on);
  [[nodiscard]] bool overlaps(const ProgramCb& cb) const;
  void append(const ProgramCb& cb);

  std::vector<ProgramCb> cbs_;
  std::vector<OnChip> chips_;
  std::size_t next_ = 0;            // index of the chip that is expected next
  std::size_t complete_chips_ = 0;  // number of chips that have the whole list
  std::uint64_t lowest_ = 0;
  // True if the list has circular buffers that are not views. `lowest_` is then the lowest address
  // of these circular buffers.
  bool has_own_ = false;
  bool may_have_two_programs_ = false;
  bool ends_with_views_ = false;  // true if the last of several circular buffers is a view
};

}  // namespace ttmem::tt_metal
