// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "read/collector/evidence.hpp"
#include "read/model/counters.hpp"

namespace ttmem::collector {

// Counts events of all tracked processes since the first pass, also of those that have ended and
// whose segments are gone. What a process did after the last pass before a clean exit is not
// counted. After a kill it is: the segment is still there.
//
// What the segments of the first pass had counted before is left out, because an earlier server has
// reported it: a counter that begins with it would be added to that again by who adds up restarts.
// Dropped events are not: that figures are low is true for as long as the segment is there.
//
// Takes memory for each device of each segment, and for kMostDevices devices. One thread at a time.
class EventTotals {
 public:
  static constexpr std::size_t kMostDevices = 1024;  // further ones are not counted

  void add(const Evidence& evidence);

  [[nodiscard]] std::vector<model::DeviceCounters> devices() const;
  // Allocations, programs and calls that a process could not record.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  using Device = std::tuple<std::uint32_t, std::uint64_t, std::string>;  // id, uid, arch
  using File = std::pair<std::string, ino_t>;
  struct Counts {
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
  };
  struct Seen {
    std::map<Device, Counts> devices;
    std::uint64_t dropped = 0;
  };

  void add(const SegmentEvidence& segment, bool first, Seen& seen);

  std::map<Device, Counts> devices_;
  std::uint64_t dropped_ = 0;
  std::map<File, Seen> seen_;  // of the segments that were there at the last pass
  bool begun_ = false;         // there was a pass
};

}  // namespace ttmem::collector
