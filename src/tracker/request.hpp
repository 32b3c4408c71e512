// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>

#include "base/core_mask.hpp"
#include "base/kinds.hpp"
#include "tracker/device.hpp"

namespace ttmem::tracker {

// What an allocation asks for, checked, with its banks worked out.
struct Request {
  Kind kind = Kind::dram;
  std::uint8_t role = TTMEM_KERNEL_APP;
  bool has_address = false;
  bool has_cores = false;  // false: every bank, or some of DRAM's
  bool is_estimate = false;
  std::uint32_t banks = 0;  // 0: unknown
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;  // 0: unknown
  const char* label = nullptr;       // the caller's
  CoreMask cores;

  [[nodiscard]] bool is_sized() const noexcept { return bytes_per_bank != 0 && banks != 0; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept {
    return is_sized() ? bytes_per_bank * banks : bytes;
  }
};

// Fill `request`, which is new. False: the call cannot be meant, and is counted as a bad argument.
[[nodiscard]] bool understand_buffer(Device& device, const ttmem_buffer& buffer, Request& request);
[[nodiscard]] bool understand_kernel(Device& device, std::uint64_t kernel, std::uint64_t bytes,
                                     std::uint32_t role, bool is_estimate, Request& request);
[[nodiscard]] bool understand_cb(Device& device, std::uint64_t cb, std::uint64_t bytes,
                                 Request& request);

}  // namespace ttmem::tracker
