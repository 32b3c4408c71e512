// SPDX-License-Identifier: Apache-2.0
// Converts TT-Metal's objects to the types of the C interface.
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

// Returns the chips of a mesh, or the chip itself.
std::vector<::tt::tt_metal::IDevice*> chips_of(const ::tt::tt_metal::IDevice* device);

inline std::uint32_t number_of(const ::tt::tt_metal::IDevice& chip) {
  return static_cast<std::uint32_t>(chip.id());
}

std::vector<ttmem_core_range> ranges_of(const ::tt::tt_metal::CoreRangeSet& cores);

// Returns the compute cores of a chip, or of each chip of a mesh.
::tt::tt_metal::CoreRangeSet all_cores(const ::tt::tt_metal::IDevice& device);

// Returns all facts that TT-Metal reports about an open chip.
ttmem_device_info device_info(const ::tt::tt_metal::IDevice& chip);

// Returns the cores that hold the bytes of a sharded buffer. Returns no cores for an interleaved
// buffer, which uses all banks. For a sharded buffer of a sub-device, returns all cores of the
// sub-device. For a sharded buffer in DRAM, returns its banks as (bank, 0).
std::vector<ttmem_core_range> cores_of(const ::tt::tt_metal::Buffer& buffer);

// Describes a buffer, except its bytes per bank (BankBytes). `cores` is the result of cores_of(),
// and must outlive the description. `label` may be null.
ttmem_buffer describe(const ::tt::tt_metal::Buffer& buffer,
                      const std::vector<ttmem_core_range>& cores, const char* label);

// Returns the buffer's id plus 1, because TT-Metal's ids begin at 0, and 0 means "no id" for the
// tracker.
inline std::uint64_t tracker_id(const ::tt::tt_metal::Buffer& buffer) {
  return buffer.unique_id() + 1;
}

inline ttmem_buffer_type type_of(const ::tt::tt_metal::Buffer& buffer) {
  return static_cast<ttmem_buffer_type>(buffer.buffer_type());
}

}  // namespace ttmem::tt_metal
