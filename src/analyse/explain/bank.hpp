// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyse/explain/device_memory.hpp"
#include "read/placement/free_list.hpp"

namespace ttmem::explain {

// The memory of one kind that a process has on a device. Finds out which changes would have made a
// request fit. Each change is tried on a copy of the bank, with an allocator that places buffers
// like the runtime's allocator. Pure, safe from any thread. `holders` must outlive the bank.
class Bank {
 public:
  // Returns nullopt if two holders overlap, or if a holder lies outside the region.
  [[nodiscard]] static std::optional<Bank> make(Kind kind, const collector::BankRegion& region,
                                                std::span<const BufferHolder> holders);

  [[nodiscard]] std::uint64_t bytes() const { return region_.range.end - region_.range.begin; }
  [[nodiscard]] const collector::BankRegion& region() const { return region_; }
  [[nodiscard]] std::span<const BufferHolder> holders() const { return holders_; }
  [[nodiscard]] std::uint64_t free_bytes() const { return free_bytes_; }
  [[nodiscard]] std::uint64_t largest_free() const { return largest_free_; }

  // The adjacent holders [first, first + count). If they are freed, one free block is large enough
  // for the request. Each set of holders whose release makes room for the request contains a run.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint64_t bytes = 0;  // bytes that the holders take in each bank
  };
  // Returns the run with the fewest holders. Of several such runs, returns the run with the fewest
  // bytes. Returns nullopt if there are no holders, or if the request is larger than the bank.
  [[nodiscard]] std::optional<Run> smallest_run(std::uint64_t request) const;

  // Returns true if a move of the run makes the request fit. A move frees and allocates one holder
  // after another, like ttnn.reallocate, in the order in which the allocator fills the bank.
  [[nodiscard]] bool fits_after_moving(const Run& run, std::uint64_t request) const;
  // Returns true if all holders begin at or above the address `lowest` after a move of the run.
  [[nodiscard]] bool clears_after_moving(const Run& run, std::uint64_t lowest) const;

  // Returns true if all buffers would fit if the request were allocated before the holders, and the
  // holders from the oldest to the youngest. Returns false if the order of the holders is unknown.
  [[nodiscard]] bool fits_when_first(std::uint64_t request) const;

  // Returns true if the request fits into a bank that is `more` bytes larger. The bytes are added
  // at the end that the allocator fills last, and the holders keep their places.
  [[nodiscard]] bool fits_with_more(std::uint64_t more, std::uint64_t request) const;
  // Returns how many bytes must be added at that end to make the request fit there; 0 if the
  // request fits there already.
  [[nodiscard]] std::uint64_t missing_at_the_end(std::uint64_t request) const;

 private:
  Bank(Kind kind, const collector::BankRegion& region, std::span<const BufferHolder> holders,
       placement::FreeList space);
  [[nodiscard]] placement::FreeList after_moving(const Run& run) const;

  bool bottom_up_;
  collector::BankRegion region_;
  std::span<const BufferHolder> holders_;
  placement::FreeList space_;
  std::uint64_t free_bytes_ = 0;
  std::uint64_t largest_free_ = 0;
};

// Returns the bank of a kind. Returns nullopt if the region of the kind or the address of a buffer
// is unknown, if buffers overlap, or if a buffer lies outside of the region. `memory` must outlive
// the bank.
[[nodiscard]] std::optional<Bank> bank_of(const DeviceMemory& memory, Kind kind);

}  // namespace ttmem::explain
