// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "show/exports/selection.hpp"
#include "show/exports/usage.hpp"

namespace ttmem::exports {

// The largest values of something, in so many stretches of time that hold the same number of
// values. Memory is bounded: when there are too many stretches, each two become one.
class LocalPeaks {
 public:
  explicit LocalPeaks(std::size_t most) : most_(most) {}

  // In the order of time.
  void add(const Peak& value);
  // What add() has not finished.
  void finish();
  // Each two stretches become one, which keeps the larger of their peaks.
  void halve();

  [[nodiscard]] const std::vector<Peak>& peaks() const { return peaks_; }

 private:
  std::size_t most_;
  std::size_t values_per_peak_ = 1;
  std::size_t values_ = 0;  // in `open_`
  Peak open_{};
  std::vector<Peak> peaks_;
};

// Which allocations a viewer gets that cannot show all of them.
//
// Time is cut into stretches, and of each the moment is kept at which a memory of a chip was
// fullest. What lives at one of these moments, or at the end, is kept; what comes and goes between
// two of them is left out. So every kept moment is exact, the peak of the recording among them,
// and nowhere is shown more than there was.
class Thinning {
 public:
  using Moments = std::vector<std::array<std::vector<recording::Time>, kMemories>>;

  Thinning() = default;

  // Passes over the recording once or twice. `most_entries`: an allocation is one entry, its free
  // two. What lives at the peak and at the end is kept also when it is more than that.
  [[nodiscard]] static Result<Thinning> plan(const recording::Reader& reader,
                                             const Selection& selection,
                                             std::uint64_t most_entries);

  // False: everything is kept.
  [[nodiscard]] bool is_needed() const { return !moments_.empty(); }
  [[nodiscard]] bool keeps(std::size_t chip, Memory memory, recording::Time begin,
                           std::optional<recording::Time> end) const;
  // Whether this is a kept moment of that memory.
  [[nodiscard]] bool is_kept(std::size_t chip, Memory memory, recording::Time time) const;

 private:
  explicit Thinning(Moments moments) : moments_(std::move(moments)) {}
  // How many entries the circular buffers have, which change so often on each chip.
  [[nodiscard]] std::uint64_t cb_entries(const std::vector<std::uint64_t>& changes) const;

  Moments moments_;  // [chip][memory], ascending; empty: not needed
};

}  // namespace ttmem::exports
