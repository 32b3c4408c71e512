// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace ttmem::demo {

// The addresses [begin, end) of one memory, the same in each of its banks. First fit, from the
// bottom up or from the top down, as the runtime places its buffers. Not thread-safe.
class Region {
 public:
  enum class From : std::uint8_t { bottom, top };

  // `alignment` is a power of two; `begin` and `end` keep it.
  Region(std::uint64_t begin, std::uint64_t end, std::uint64_t alignment, From from);

  // The address, or nothing when no gap is large enough. `bytes` is not 0.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes);

  // `address` is what allocate() gave, and not released yet.
  void release(std::uint64_t address);

 private:
  [[nodiscard]] std::uint64_t lowest_fit(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t highest_fit(std::uint64_t bytes) const;

  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t alignment_;
  From from_;
  std::map<std::uint64_t, std::uint64_t> taken_;  // address -> bytes, aligned
};

}  // namespace ttmem::demo
