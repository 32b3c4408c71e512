// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/settings.hpp"

#include "analyse/report/peak_ranges.hpp"

namespace ttmem::report {
namespace {

std::uint64_t with_room(std::uint64_t bytes, std::uint64_t step) {
  const std::uint64_t wanted = bytes + bytes / 10;
  return (wanted + step - 1) / step * step;
}

}  // namespace

Settings settings_for(const DeviceReport& device) {
  Settings settings;
  if (const auto trace = peak_range_of(device, Kind::trace)) {
    const std::int64_t bytes = trace->most.value_or(trace->least.value_or(0));
    settings.trace_region_size = with_room(static_cast<std::uint64_t>(bytes), 1ULL << 20);
  }
  if (device.l1_small_peak_per_core) {
    settings.l1_small_size = with_room(*device.l1_small_peak_per_core, 1024);
  } else if (device.peak[Kind::l1_small]) {
    settings.l1_small_size = 0;
  }
  return settings;
}

}  // namespace ttmem::report
