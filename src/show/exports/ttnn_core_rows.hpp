// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttmem::exports {

// Decides which operations of a ttnn report show the cores of their buffers, which take one row for
// each buffer of L1 on each of its cores. A quarter of the rows is kept for the peaks; the other
// operations share the rest. Operations that need more rows than their share take turns, so that
// they are spread over the run.
class CoreRows {
 public:
  static constexpr std::uint64_t kMax = 4'000'000;  // rows of all operations together

  // `operations` is the expected number of operations besides the peaks.
  explicit CoreRows(std::uint64_t operations) : share_(left_ / (operations + 1)) {}

  // Return true if the operation may write this number of rows.
  [[nodiscard]] bool take_for_peak(std::uint64_t rows) {
    if (rows > for_peaks_) return false;
    for_peaks_ -= rows;
    return true;
  }
  [[nodiscard]] bool take_for_operation(std::uint64_t rows) {
    saved_ = std::min(saved_ + share_, left_);
    if (rows > saved_) return false;
    saved_ -= rows;
    left_ -= rows;
    return true;
  }

 private:
  std::uint64_t for_peaks_ = kMax / 4;
  std::uint64_t left_ = kMax - kMax / 4;  // for the other operations
  std::uint64_t share_;
  std::uint64_t saved_ = 0;  // shares of the operations so far that were not used
};

}  // namespace ttmem::exports
