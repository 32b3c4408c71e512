// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/evidence.hpp"
#include "model/counters.hpp"

namespace ttmem::collector {

// Counts what happened over all tracked processes, also over those that have ended: the counters of
// a segment go with it, these stay. What a process did after the last pass that saw it is not
// counted, unless it was killed: then its segment is there to be read.
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

  void add(const SegmentEvidence& segment, Seen& seen);

  std::map<Device, Counts> devices_;
  std::uint64_t dropped_ = 0;
  std::map<File, Seen> seen_;  // of the segments that were there at the last pass
};

}  // namespace ttmem::collector
