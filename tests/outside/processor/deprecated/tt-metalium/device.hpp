// SPDX-License-Identifier: Apache-2.0
#pragma once

#include_next <tt-metalium/device.hpp>

// Simulates a later TT-Metal whose own header calls a deprecated function.
namespace tt::tt_metal {
[[deprecated("ask somebody else")]] inline int chip_number(const IDevice& chip) {
  return chip.id();
}
inline int old_number(const IDevice& chip) { return chip_number(chip); }
}  // namespace tt::tt_metal
