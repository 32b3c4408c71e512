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

// Counts the events of all tracked processes since the first pass, including processes that have
// ended and whose segments are gone. The events of a process between the last pass and its end are
// counted only if the process was killed, because only then its segment remains.
// Events before the first pass are not counted. An earlier server may have reported these events,
// and a monitoring system that adds up counters over restarts would count them twice. Dropped
// events before the first pass are counted, because the figures of a segment that dropped events
// stay too low for as long as the segment exists.
// Uses memory for each device of each present segment, and for at most kMaxDevices sums. Not
// thread-safe.
class EventTotals {
 public:
  static constexpr std::size_t kMaxDevices = 1024;  // further devices are not counted

  void add(const Evidence& evidence);

  [[nodiscard]] std::vector<model::DeviceCounters> devices() const;
  // Returns the number of allocations, programs and calls that processes could not record.
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
  std::map<File, Seen> seen_;  // the counters of the segments of the last pass
  bool begun_ = false;         // true after the first pass
};

}  // namespace ttmem::collector
