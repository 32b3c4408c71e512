// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "read/collector/free_space.hpp"

namespace ttmem::report {

// Maintains the free blocks of a region while buffers are added and removed. Buffers may overlap.
// The time of a change is logarithmic in the number of blocks, and proportional to the number of
// buffers that overlap the changed range. As in collector::free_space(), a free block begins at the
// begin of the region or at a multiple of the region's step.
//
// Example: in the region [100, 200) with step 10, after take(100, 115) and take(150, 160), the
// largest free block has 40 bytes. Not thread-safe.
class FreeBlocks {
 public:
  explicit FreeBlocks(const collector::BankRegion& region);

  // Takes [begin, end), which must lie in the region and not be empty.
  void take(std::uint64_t begin, std::uint64_t end) { change(begin, end, true); }
  // Frees a range that was taken before.
  void give_back(std::uint64_t begin, std::uint64_t end) { change(begin, end, false); }

  // Returns the length of the largest free block; 0 if there is none.
  [[nodiscard]] std::uint64_t largest() const;
  // Returns the length of all free blocks together.
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  // Maps an address to the number of buffers between this address and the next address of the map.
  // Adjacent entries have different numbers.
  using Cover = std::map<std::uint64_t, std::uint32_t>;

  void change(std::uint64_t begin, std::uint64_t end, bool add);
  Cover::iterator split(std::uint64_t address);
  void note(Cover::iterator block, bool there);
  [[nodiscard]] std::uint64_t length(std::uint64_t begin, std::uint64_t end) const;

  collector::BankRegion region_;
  Cover cover_;
  std::map<std::uint64_t, std::uint32_t> lengths_;  // by length: number of free blocks
  std::uint64_t total_ = 0;
};

}  // namespace ttmem::report
