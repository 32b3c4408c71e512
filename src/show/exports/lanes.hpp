// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace ttmem::exports {

// Assigns lanes to lifetimes, so that no two lifetimes overlap in one lane. Not thread-safe.
class Lanes {
 public:
  explicit Lanes(std::size_t max_lanes) : max_lanes_(max_lanes) {}

  // Takes the lowest free lane. Returns nullopt if all lanes are taken.
  [[nodiscard]] std::optional<std::size_t> take() {
    if (!free_.empty()) {
      const std::size_t lane = free_.top();
      free_.pop();
      return lane;
    }
    if (used_ == max_lanes_) return std::nullopt;
    return used_++;
  }
  void give_back(std::size_t lane) { free_.push(lane); }

 private:
  std::size_t max_lanes_;
  std::size_t used_ = 0;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free_;
};

}  // namespace ttmem::exports
