// SPDX-License-Identifier: Apache-2.0
//
// TT-Metal's objects in the words of the C interface.
#pragma once

#include <cstdint>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <vector>

#include "core_ranges.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

// The chips of a mesh, or the chip itself.
std::vector<::tt::tt_metal::IDevice*> chips_of(const ::tt::tt_metal::IDevice* device);

inline std::uint32_t number_of(const ::tt::tt_metal::IDevice& chip) {
  return static_cast<std::uint32_t>(chip.id());
}

std::vector<ttmem_core_range> ranges_of(const ::tt::tt_metal::CoreRangeSet& cores);

// The compute cores of a chip, or of each chip of a mesh.
::tt::tt_metal::CoreRangeSet all_cores(const ::tt::tt_metal::IDevice& device);

// Everything that an open chip says of itself.
ttmem_device_info device_info(const ::tt::tt_metal::IDevice& chip);

// Where the bytes of a sharded buffer lie; none means in all banks. For the buffer of a sub-device,
// the cores of that; for one in DRAM, its banks, (bank, 0).
std::vector<ttmem_core_range> cores_of(const ::tt::tt_metal::Buffer& buffer);

// `cores` is cores_of() it, and must live as long as the result. `label` may be null. What it takes
// of each bank is left out (BankBytes).
ttmem_buffer describe(const ::tt::tt_metal::Buffer& buffer,
                      const std::vector<ttmem_core_range>& cores, const char* label);

// TT-Metal's ids begin at 0, which the tracker takes as "no id".
inline std::uint64_t tracker_id(const ::tt::tt_metal::Buffer& buffer) {
  return buffer.unique_id() + 1;
}

inline ttmem_buffer_type type_of(const ::tt::tt_metal::Buffer& buffer) {
  return static_cast<ttmem_buffer_type>(buffer.buffer_type());
}

}  // namespace ttmem::tt_metal
