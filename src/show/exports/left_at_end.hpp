// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "read/recording/file/tables.hpp"
#include "show/exports/selection.hpp"

namespace ttmem::exports {

// Finds the memory that was left on a chip when the last process closed the chip, for formats that
// show the end of the run. Memory that was left on a chip that other processes used later is not
// meant: their allocations take its place.
class LeftAtEnd {
 public:
  // The arguments must outlive the object.
  LeftAtEnd(const recording::Tables& tables, const Selection& selection);

  // Returns true if an allocation or program that ended so on the device was left there.
  [[nodiscard]] bool has(recording::RowId device, const recording::EndOnDevice& end) const;
  // Returns the end of an allocation on one of its devices. Returns no end if it was left there.
  [[nodiscard]] recording::EndOnDevice end_on(const recording::RecordedAllocation& allocation,
                                              recording::RowId device) const;

 private:
  const recording::Tables& tables_;
  std::vector<bool> is_last_;  // [device - 1]: no other opening of the chip ended later
};

}  // namespace ttmem::exports
