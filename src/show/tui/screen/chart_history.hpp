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

// What a device held at one moment.
struct ChartSample {
  std::uint64_t time_unix_ns = 0;
  model::Bytes dram_bytes;
  model::Bytes l1_used_bytes;  // Total L1
  model::Bytes l1_bytes;       // its parts
  model::Bytes l1_small_bytes;
  model::Bytes cb_bytes;
  model::Bytes kernels_bytes;

  friend bool operator==(const ChartSample&, const ChartSample&) = default;
};

[[nodiscard]] ChartSample sample_of(const model::Device& device, std::uint64_t time_unix_ns);

// The last minutes of every device, for the charts: five minutes, within a bounded number of
// samples. Not thread-safe.
class ChartHistory {
 public:
  static constexpr std::uint64_t kSpanNs = 300'000'000'000;
  static constexpr std::size_t kMaxSamples = 6'200;  // five minutes at the shortest interval

  // Adds one sample of each device and drops old ones. Ignores samples that are not newer than the
  // last one.
  void add(const model::Snapshot& snapshot);

  // Puts older samples of a device, which come from a server, before its own. Both are in the order
  // of time.
  void prepend(const model::Device& device, const std::vector<ChartSample>& older);

  // In the order of time.
  [[nodiscard]] const std::deque<ChartSample>& of(const model::Device& device) const;

 private:
  std::map<model::DeviceName, std::deque<ChartSample>> series_;
};

}  // namespace ttmem::tui
