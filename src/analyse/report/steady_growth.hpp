// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::report {

// Finds steady growth of a figure. A leak grows steadily; a cache that fills grows only at the
// beginning. The samples are taken repeatedly at the same place of the host code, such as at the
// marks of one name. The first samples are the warm-up and are ignored. The other samples are cut
// into three parts. Growth is steady if the figure grew in each part and never shrank. With fewer
// than three steps, the figure must grow in each step.
class SteadyGrowth {
 public:
  static constexpr std::uint32_t kMinSamples = 3;

  // Returns the number of warm-up samples: 2 of 8 or more samples, 1 of 6 or 7, otherwise 0.
  [[nodiscard]] static constexpr std::uint32_t warm_up(std::uint32_t samples) {
    return samples >= 8 ? 2 : samples >= 6 ? 1 : 0;
  }

  // Returns the number of steps between samples after the warm-up.
  [[nodiscard]] static constexpr std::uint32_t steps(std::uint32_t samples) {
    return samples == 0 ? 0 : samples - warm_up(samples) - 1;
  }

  // Adds sample `index` of `samples`, in order. A sample that equals the previous sample may be
  // left out.
  void add(std::uint32_t index, std::uint32_t samples, std::uint64_t value) {
    const std::uint32_t begin = warm_up(samples);
    if (index <= begin) {
      first_ = value;
    } else if (value > last_) {
      ++grew_;
      parts_ |= 1U << ((index - begin - 1) * std::uint64_t{3} / steps(samples));
    } else if (value < last_) {
      shrank_ = true;
    }
    last_ = value;
  }

  [[nodiscard]] bool is_steady(std::uint32_t samples) const {
    if (samples < kMinSamples || shrank_) return false;
    return steps(samples) < 3 ? grew_ == steps(samples) : parts_ == 7;
  }
  [[nodiscard]] std::uint64_t first() const { return first_; }  // first value after the warm-up
  [[nodiscard]] std::uint64_t last() const { return last_; }
  // Returns the number of steps in which the figure grew.
  [[nodiscard]] std::uint64_t grew() const { return grew_; }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint32_t grew_ = 0;
  std::uint32_t parts_ = 0;  // one bit for each part in which the figure grew
  bool shrank_ = false;
};

}  // namespace ttmem::report
