// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::tracker {

// Is told of every change of the tracker's segment that a reader would see, inside the call and
// under its lock, right after the record was written. Numbers are those of the segment's records;
// the body of a record that was removed is still what it was. Dispatches are not told.
//
// A device that closes takes all that is on it along: that is one call, not one for each.
class Observer {
 public:
  // Opened, announced (again), or closed: the record's state says which.
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
