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

// One kind of memory of a process on a device, on the allocator that places as the runtime does: to
// try what would have helped. Nothing here changes it; each try works on a copy. Pure, safe from
// any thread. `holders` must outlive it.
class Bank {
 public:
  // None when they cannot all lie there: two overlap, or one lies outside.
  [[nodiscard]] static std::optional<Bank> make(Kind kind, const collector::BankRegion& region,
                                                std::span<const Holder> holders);

  [[nodiscard]] std::uint64_t bytes() const { return region_.range.end - region_.range.begin; }
  [[nodiscard]] const collector::BankRegion& region() const { return region_; }
  [[nodiscard]] std::span<const Holder> holders() const { return holders_; }
  [[nodiscard]] std::uint64_t free_bytes() const { return free_bytes_; }
  [[nodiscard]] std::uint64_t largest_free() const { return largest_free_; }

  // Neighbours [first, first + count) whose end would leave one block that is large enough: any
  // solution has such a run in it.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint64_t bytes = 0;  // that they take
  };
  // The run of the fewest holders, of these the one of the fewest bytes. None: it is larger than
  // the bank. Tried on the allocator: after their end the request is placed.
  [[nodiscard]] std::optional<Run> smallest_run(std::uint64_t request) const;

  // Frees each of the run and allocates it again, as ttnn.reallocate does, in the order in which
  // the allocator fills the bank. True if the request fits then.
  [[nodiscard]] bool fits_after_moving(const Run& run, std::uint64_t request) const;
  // True if nothing lies below `lowest` then.
  [[nodiscard]] bool clears_after_moving(const Run& run, std::uint64_t lowest) const;

  // True if the request and all that is there fit when the request comes first, and the others in
  // the order of their age. False if that is not known.
  [[nodiscard]] bool fits_when_first(std::uint64_t request) const;

  // True if the request fits into a bank that is `more` bytes larger. What is there moves with the
  // end from which the allocator fills it, so that they are added at the other one.
  [[nodiscard]] bool fits_with_more(std::uint64_t more, std::uint64_t request) const;
  // How many more would do, at that end; 0: none are needed there.
  [[nodiscard]] std::uint64_t missing_at_the_end(std::uint64_t request) const;

 private:
  Bank(Kind kind, const collector::BankRegion& region, std::span<const Holder> holders,
       placement::FreeList space);
  [[nodiscard]] placement::FreeList after_moving(const Run& run) const;

  bool bottom_up_;
  collector::BankRegion region_;
  std::span<const Holder> holders_;
  placement::FreeList space_;
  std::uint64_t free_bytes_ = 0;
  std::uint64_t largest_free_ = 0;
};

// None: there is no such region, not all that lies there is known, or it cannot all lie there.
// `memory` must outlive it.
[[nodiscard]] std::optional<Bank> bank_of(const DeviceMemory& memory, Kind kind);

}  // namespace ttmem::explain
