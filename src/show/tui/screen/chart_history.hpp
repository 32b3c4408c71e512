// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::tui {

// The used bytes of a device at one moment.
struct ChartSample {
  std::uint64_t time_unix_ns = 0;
  model::Bytes dram_bytes;
  model::Bytes l1_used_bytes;  // Total L1
  // The next four fields are the parts of Total L1.
  model::Bytes l1_bytes;
  model::Bytes l1_small_bytes;
  model::Bytes cb_bytes;
  model::Bytes kernels_bytes;

  friend bool operator==(const ChartSample&, const ChartSample&) = default;
};

[[nodiscard]] ChartSample sample_of(const model::Device& device, std::uint64_t time_unix_ns);

// The samples of every device for the charts: the last five minutes, at most kMaxSamples per
// device. Not thread-safe.
class ChartHistory {
 public:
  static constexpr std::uint64_t kSpanNs = 300'000'000'000;
  // Enough for five minutes of samples at the shortest refresh interval, with some reserve.
  static constexpr std::size_t kMaxSamples = 6'200;

  // Adds one sample of each device. Removes samples that are more than five minutes older than
  // `snapshot`. If the clock was set back, also removes the samples that are not older than
  // `snapshot`.
  void add(const model::Snapshot& snapshot);

  // Adds the samples `older` of a device before its existing samples. `older` is in the order of
  // time. Ignores each new sample that is not older than all existing samples.
  void prepend(const model::Device& device, const std::vector<ChartSample>& older);

  // Returns the samples of a device in the order of time.
  [[nodiscard]] const std::deque<ChartSample>& of(const model::Device& device) const;

 private:
  std::map<model::DeviceName, std::deque<ChartSample>> series_;
};

}  // namespace ttmem::tui
