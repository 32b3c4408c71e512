// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "read/collector/free_space.hpp"

namespace ttmem::report {

// The free blocks of a region while buffers come and go, which may overlap. A change takes time
// logarithmic in the number of blocks, and proportional to how many buffers it overlaps. A block
// begins at the region's own begin or at a multiple of its step, as collector::free_space() has it.
//
// Example, region [100, 200) in steps of 10: after take(100, 115) and take(150, 160) the largest
// has 40 bytes. Not thread-safe.
class FreeBlocks {
 public:
  explicit FreeBlocks(const collector::BankRegion& region);

  // [begin, end) lies in the region and is not empty.
  void take(std::uint64_t begin, std::uint64_t end) { change(begin, end, true); }
  // It was taken before.
  void give_back(std::uint64_t begin, std::uint64_t end) { change(begin, end, false); }

  // The length of the largest one; 0 when there is none.
  [[nodiscard]] std::uint64_t largest() const;

 private:
  // Address to how many buffers lie from there up to the next one. Neighbours differ.
  using Cover = std::map<std::uint64_t, std::uint32_t>;

  void change(std::uint64_t begin, std::uint64_t end, bool add);
  Cover::iterator split(std::uint64_t address);
  void note(Cover::iterator block, bool there);
  [[nodiscard]] std::uint64_t length(std::uint64_t begin, std::uint64_t end) const;

  collector::BankRegion region_;
  Cover cover_;
  std::map<std::uint64_t, std::uint32_t> lengths_;  // of free blocks, and how many have it
};

}  // namespace ttmem::report
