// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::tracker {

// Receives a call for every change of a device, allocation or program in the tracker's segment,
// except dispatches. The calls happen inside the tracked call and under its lock, after the record
// was written. The arguments are indices of records. A record that was removed still has its
// contents.
//
// Closing a device is one call of device_changed(). The allocations and programs that the device
// held cause no further calls.
class Observer {
 public:
  // The device was opened or closed, its facts changed, or the process changed which figures it
  // reports or estimates. The record of the device shows the new state.
  virtual void device_changed(std::uint32_t record) noexcept = 0;
  virtual void allocation_added(std::uint32_t slot) noexcept = 0;
  // The allocation has another size, or its cores have other numbers.
  virtual void allocation_changed(std::uint32_t slot) noexcept = 0;
  virtual void allocation_removed(std::uint32_t slot) noexcept = 0;
  // The program was placed, or a placed program got another layout in the same slot.
  virtual void program_placed(std::uint32_t slot) noexcept = 0;
  virtual void program_removed(std::uint32_t slot) noexcept = 0;

 protected:
  ~Observer() = default;
};

}  // namespace ttmem::tracker
