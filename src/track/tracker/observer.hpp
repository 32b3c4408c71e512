// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::tracker {

// Is called for every change of the tracker's segment that a reader would see except dispatches,
// inside the tracked call and under its lock, after the record was written. The arguments are
// indices of records; a removed record still has its contents.
//
// Closing a device is one call: there is none for each of its allocations and programs.
class Observer {
 public:
  // Opened, announced, or closed: the record's state says which.
  virtual void device_changed(std::uint32_t record) noexcept = 0;
  virtual void allocation_added(std::uint32_t slot) noexcept = 0;
  virtual void allocation_changed(std::uint32_t slot) noexcept = 0;  // its size, or its cores
  virtual void allocation_removed(std::uint32_t slot) noexcept = 0;
  // Also when a placed program gets another layout, in the same slot.
  virtual void program_placed(std::uint32_t slot) noexcept = 0;
  virtual void program_removed(std::uint32_t slot) noexcept = 0;

 protected:
  ~Observer() = default;
};

}  // namespace ttmem::tracker
