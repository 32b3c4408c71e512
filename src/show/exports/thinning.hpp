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

// The largest value of each stretch of time. All stretches have the same number of values. If there
// are too many stretches, each pair of adjacent stretches is merged, so that memory is bounded.
class LocalPeaks {
 public:
  explicit LocalPeaks(std::size_t max_peaks) : max_peaks_(max_peaks) {}

  // Adds a value. Values must be in the order of time.
  void add(const Peak& value);
  // Closes the last stretch, which may be incomplete.
  void finish();
  // Merges each pair of adjacent stretches. Keeps the larger of the two peaks.
  void halve();

  [[nodiscard]] const std::vector<Peak>& peaks() const { return peaks_; }

 private:
  std::size_t max_peaks_;
  std::size_t values_per_peak_ = 1;
  std::size_t values_ = 0;  // number of values in the open stretch
  Peak open_{};
  std::vector<Peak> peaks_;
};

// The allocations to export for a viewer that cannot show all of them.
//
// The time is divided into stretches, for each memory of each chip. In each stretch, the moment at
// which the memory was fullest is kept. Allocations that live at a kept moment or at the end are
// kept. Allocations that begin and end between two kept moments are left out. Every kept moment is
// therefore exact, including the peak of the recording, and no moment shows more memory than there
// was.
class Thinning {
 public:
  using Moments = std::vector<std::array<std::vector<recording::Time>, kMemories>>;

  Thinning() = default;

  // Plans the thinning in one or two passes over the recording. `max_entries` is the maximum number
  // of entries: an allocation takes one entry, and its free takes two more entries. The allocations
  // that live at the peak and at the end are kept even if they exceed the maximum.
  [[nodiscard]] static Result<Thinning> plan(const recording::Reader& reader,
                                             const Selection& selection, std::uint64_t max_entries);

  // Returns false if everything is kept.
  [[nodiscard]] bool is_needed() const { return !moments_.empty(); }
  [[nodiscard]] bool keeps(std::size_t chip, Memory memory, recording::Time begin,
                           std::optional<recording::Time> end) const;
  // Returns true if `time` is a kept moment of the memory.
  [[nodiscard]] bool is_kept(std::size_t chip, Memory memory, recording::Time time) const;

 private:
  explicit Thinning(Moments moments) : moments_(std::move(moments)) {}
  // Returns the number of entries for circular buffers. `changes` has the number of changes per
  // chip.
  [[nodiscard]] std::uint64_t cb_entries(const std::vector<std::uint64_t>& changes) const;

  Moments moments_;  // ascending times by chip and memory; empty: no thinning
};

}  // namespace ttmem::exports
