// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

// The sets of devices in the segment. Each different set is written once and never removed. A
// process needs few sets: of its mesh, of some submeshes, and of the devices that are still open
// while the devices of a mesh are closed one by one.
//
// The number of a set is the index of its record plus one. `segment` must outlive this object. Not
// thread-safe; may throw std::bad_alloc.
class DeviceSetTable {
 public:
  explicit DeviceSetTable(segment::SegmentWriter& segment) noexcept : segment_(segment) {}

  // Returns the number of a set, which must not be empty. Returns 0 if the set is new, and the
  // segment cannot grow or already has kMaxDeviceSets sets.
  [[nodiscard]] std::uint32_t number_of(const segment::DeviceMask& devices);

 private:
  struct Hash {
    [[nodiscard]] std::size_t operator()(const segment::DeviceMask& devices) const noexcept {
      constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
      std::uint64_t hash = 0;
      for (const std::uint64_t word : devices.words) hash = (hash ^ word) * golden_ratio;
      return hash ^ hash >> 32;
    }
  };

  segment::SegmentWriter& segment_;
  boost::unordered_flat_map<segment::DeviceMask, std::uint32_t, Hash> numbers_;
};

}  // namespace ttmem::tracker
