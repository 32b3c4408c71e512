// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/sampled_peaks.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ttmem::report {
namespace {

using recording::RecordedChip;
using recording::RecordedSample;
using recording::RowId;

void raise(std::optional<Extreme>& peak, std::uint64_t bytes, Time time_ns) {
  const auto now = static_cast<std::int64_t>(bytes);
  if (!peak || now > peak->bytes) peak = Extreme{now, time_ns};
}

// Returns the sum of the last samples of all processes that use a chip.
std::uint64_t sum_of(const RecordedChip& chip, const std::vector<PerKind<std::uint64_t>>& used,
                     Kind kind) {
  std::uint64_t sum = 0;
  for (const RowId row : chip.rows) sum += used[static_cast<std::size_t>(row - 1)][kind];
  return sum;
}

}  // namespace

void set_sampled_peaks(const Tables& tables, const Chips& chips,
                       std::vector<DeviceReport>& devices) {
  std::vector<PerKind<std::uint64_t>> used(tables.devices.size());
  for (const RecordedSample& sample : tables.timeline) {
    const std::uint32_t index = chips.of(sample.device);
    const RecordedChip& chip = chips.chips[index];
    DeviceReport& device = devices[index];
    used[static_cast<std::size_t>(sample.device - 1)][sample.kind] = sample.used_bytes;
    const std::uint64_t sum = sum_of(chip, used, sample.kind);
    raise(device.peak[sample.kind], std::max(sum, sample.peak_bytes), sample.time_ns);
    if (!is_in_l1(sample.kind)) continue;
    std::uint64_t l1 = 0;
    for (const Kind kind : {Kind::l1, Kind::l1_small, Kind::cb, Kind::kernel}) {
      l1 += sum_of(chip, used, kind);
    }
    raise(device.l1_peak, std::max(l1, sample.peak_bytes), sample.time_ns);
  }
}

}  // namespace ttmem::report
