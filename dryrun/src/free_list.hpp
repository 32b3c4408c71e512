// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/hal_types.hpp>

namespace tt::tt_metal::dryrun {

// The address space of a bank: first fit by address. From the bottom, the lowest free block that is
// large enough gives its lower end; from the top, the highest one gives its upper end. Sizes are
// rounded up to the alignment, and a freed block joins its free neighbours.
//
// Example, 100 bytes from address 0, alignment 10: allocate(25, bottom_up) gives 0,
// allocate(10, !bottom_up) gives 90, allocate(55, bottom_up) gives 30, allocate(10) gives nothing.
//
// Not for several threads at once.
class FreeList {
 public:
  FreeList(DeviceAddr base, DeviceAddr size, std::uint32_t alignment);

  // Nothing when no free block is large enough; then nothing has changed.
  std::optional<DeviceAddr> allocate(DeviceAddr size, bool bottom_up);
  // An address that is not allocated is ignored.
  void deallocate(DeviceAddr address);

  // Takes the lowest bytes of the space away, where nothing may be allocated, or gives them back: 0
  // takes nothing.
  void reserve_below(DeviceAddr bytes);

  // Without what is reserved.
  DeviceAddr size() const { return size_ - reserved_; }
  std::optional<DeviceAddr> lowest_occupied_address() const;
  Statistics statistics() const;

 private:
  DeviceAddr take(std::map<DeviceAddr, DeviceAddr>::iterator block, DeviceAddr size,
                  bool bottom_up);

  void add_free(DeviceAddr address, DeviceAddr size);

  const DeviceAddr base_;
  const DeviceAddr size_;
  const std::uint32_t alignment_;
  DeviceAddr reserved_ = 0;
  std::map<DeviceAddr, DeviceAddr> free_;       // address to size; no two touch
  std::map<DeviceAddr, DeviceAddr> allocated_;  // address to size
};

}  // namespace tt::tt_metal::dryrun
