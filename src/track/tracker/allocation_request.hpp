// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>

#include "base/core_mask.hpp"
#include "base/kinds.hpp"
#include "track/tracker/tracked_device.hpp"

namespace ttmem::tracker {

// The checked arguments of an allocation: of a buffer, a kernel, or a CB without an address.
struct AllocationRequest {
  Kind kind = Kind::dram;
  std::uint8_t role = TTMEM_KERNEL_APP;
  std::uint8_t layout = 0;  // segment::LayoutBits of a buffer
  bool has_address = false;
  bool has_cores = false;      // false: in every bank, or in some DRAM banks
  bool has_own_banks = false;  // TTMEM_BUFFER_OWN_BANKS
  bool is_estimate = false;
  std::uint32_t banks = 0;        // number of banks that the allocation takes; 0: unknown
  std::uint32_t shard_banks = 0;  // segment::Pages::shard_banks
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;  // 0: unknown
  std::uint64_t page_bytes = 0;      // 0: unknown
  const char* label = nullptr;       // the caller's string, which is not copied
  CoreMask cores;

  [[nodiscard]] bool is_sized() const noexcept { return bytes_per_bank != 0 && banks != 0; }
  // Returns the physical bytes if they are known, otherwise the logical bytes.
  [[nodiscard]] std::uint64_t used_bytes() const noexcept {
    return is_sized() ? bytes_per_bank * banks : bytes;
  }
};

// Each function checks the arguments of one call and fills `request`, which must have its default
// values. Returns false, and counts a bad argument on the device, if the arguments are impossible.
[[nodiscard]] bool fill_buffer_request(TrackedDevice& device, const ttmem_buffer& buffer,
                                       AllocationRequest& request);
[[nodiscard]] bool fill_kernel_request(TrackedDevice& device, std::uint64_t kernel,
                                       std::uint64_t bytes, std::uint32_t role, bool is_estimate,
                                       AllocationRequest& request);
[[nodiscard]] bool fill_cb_request(TrackedDevice& device, std::uint64_t cb, std::uint64_t bytes,
                                   AllocationRequest& request);

}  // namespace ttmem::tracker
