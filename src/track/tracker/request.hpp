// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>

#include "base/core_mask.hpp"
#include "base/kinds.hpp"
#include "track/tracker/device.hpp"

namespace ttmem::tracker {

// The checked arguments of an allocation, with the number of its banks.
struct Request {
  Kind kind = Kind::dram;
  std::uint8_t role = TTMEM_KERNEL_APP;
  std::uint8_t layout = 0;  // of a buffer: segment::LayoutBits
  bool has_address = false;
  bool has_cores = false;  // false: its bytes lie in every bank, or nobody knows in which of DRAM's
  bool has_own_banks = false;  // TTMEM_BUFFER_OWN_BANKS
  bool is_estimate = false;
  std::uint32_t banks = 0;        // that it takes; 0: unknown
  std::uint32_t shard_banks = 0;  // as segment::Pages has it
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;  // 0: unknown
  std::uint64_t page_bytes = 0;      // 0: unknown
  const char* label = nullptr;       // the caller's
  CoreMask cores;

  [[nodiscard]] bool is_sized() const noexcept { return bytes_per_bank != 0 && banks != 0; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept {
    return is_sized() ? bytes_per_bank * banks : bytes;
  }
};

// Each fills `request`, which is new. False, and counted, when the arguments are bad.
[[nodiscard]] bool fill_buffer_request(Device& device, const ttmem_buffer& buffer,
                                       Request& request);
[[nodiscard]] bool fill_kernel_request(Device& device, std::uint64_t kernel, std::uint64_t bytes,
                                       std::uint32_t role, bool is_estimate, Request& request);
[[nodiscard]] bool fill_cb_request(Device& device, std::uint64_t cb, std::uint64_t bytes,
                                   Request& request);

}  // namespace ttmem::tracker
