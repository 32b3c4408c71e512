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

// One kind of memory of a process on a device, in an allocator that places buffers like the
// runtime's allocator. Computes which changes would have made a request fit. The bank itself never
// changes, because each change is tried on a copy. Pure, safe from any thread. `holders` must
// outlive the bank.
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

  // Adjacent holders [first, first + count). If all of them are freed, one free block is large
  // enough for the request. Any set of holders that makes room when freed contains at least one
  // run.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint64_t bytes = 0;  // bytes that the holders take in a bank
  };
  // Returns the run with the fewest holders, and among runs of equal length the run with the fewest
  // bytes. Returns nullopt if there are no holders, or if the request is larger than the bank.
  [[nodiscard]] std::optional<Run> smallest_run(std::uint64_t request) const;

  // Returns true if the request fits after the run was moved. To move a run, each of its holders is
  // freed and allocated again, as ttnn.reallocate does, in the order in which the allocator fills
  // the bank.
  [[nodiscard]] bool fits_after_moving(const Run& run, std::uint64_t request) const;
  // Returns true if no holder begins below the address `lowest` after the run was moved.
  [[nodiscard]] bool clears_after_moving(const Run& run, std::uint64_t lowest) const;

  // Returns true if the request and all holders fit when the request is allocated first, and then
  // the holders from the oldest to the youngest. Returns false if an age is unknown.
  [[nodiscard]] bool fits_when_first(std::uint64_t request) const;

  // Returns true if the request fits into a bank that is `more` bytes larger. The holders stay at
  // the end from which the allocator fills the bank; the bytes are added at the other end.
  [[nodiscard]] bool fits_with_more(std::uint64_t more, std::uint64_t request) const;
  // Returns the number of bytes that fits_with_more() must add so that the request fits at the
  // extended end; 0 if the request fits there already.
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

// Returns nullopt if the region of the kind is unknown, if the address of a buffer is unknown, or
// if the buffers cannot all lie in the region. `memory` must outlive the bank.
[[nodiscard]] std::optional<Bank> bank_of(const DeviceMemory& memory, Kind kind);

}  // namespace ttmem::explain
