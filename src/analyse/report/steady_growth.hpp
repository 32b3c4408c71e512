// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::report {

// Whether a figure grows for as long as it is looked at, as a leak does, and not only at the
// beginning, as a cache does that fills. By looks at equal places of a program: the marks of one
// name. The first looks of many are its warm-up, and do not count. What is left is cut into three
// parts: the figure grew in each of them and was never less than before.
class SteadyGrowth {
 public:
  static constexpr std::uint32_t kFewestLooks = 3;

  // Of so many looks, the first that counts.
  [[nodiscard]] static constexpr std::uint32_t warm_up(std::uint32_t looks) {
    return looks >= 8 ? 2 : looks >= 6 ? 1 : 0;
  }

  // From how many of them to the next a figure can grow.
  [[nodiscard]] static constexpr std::uint32_t steps(std::uint32_t looks) {
    return looks == 0 ? 0 : looks - warm_up(looks) - 1;
  }

  // The figure at look `index` of `looks`, in their order. A look at which it is as before may be
  // left out.
  void look(std::uint32_t index, std::uint32_t looks, std::uint64_t value) {
    const std::uint32_t begin = warm_up(looks);
    if (index <= begin) {
      first_ = value;
    } else if (value > last_) {
      ++grew_;
      parts_ |= 1U << ((index - begin - 1) * std::uint64_t{3} / steps(looks));
    } else if (value < last_) {
      shrank_ = true;
    }
    last_ = value;
  }

  [[nodiscard]] bool is_steady(std::uint32_t looks) const {
    if (looks < kFewestLooks || shrank_) return false;
    return steps(looks) < 3 ? grew_ == steps(looks) : parts_ == 7;
  }
  [[nodiscard]] std::uint64_t first() const { return first_; }  // after the warm-up
  [[nodiscard]] std::uint64_t last() const { return last_; }
  // From how many looks to the next.
  [[nodiscard]] std::uint64_t grew() const { return grew_; }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint32_t grew_ = 0;
  std::uint32_t parts_ = 0;  // a bit for each in which it grew
  bool shrank_ = false;
};

}  // namespace ttmem::report
