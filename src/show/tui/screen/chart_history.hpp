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
  model::Bytes l1_bytes;       // this and the next three fields are the parts of Total L1
  model::Bytes l1_small_bytes;
  model::Bytes cb_bytes;
  model::Bytes kernels_bytes;

  friend bool operator==(const ChartSample&, const ChartSample&) = default;
};

[[nodiscard]] ChartSample sample_of(const model::Device& device, std::uint64_t time_unix_ns);

// The samples of every device for the charts: the last five minutes, with a maximum number of
// samples. Not thread-safe.
class ChartHistory {
 public:
  static constexpr std::uint64_t kSpanNs = 300'000'000'000;
  static constexpr std::size_t kMaxSamples = 6'200;  // five minutes at the shortest interval

  // Adds one sample of each device and drops samples that are too old. Ignores samples that are not
  // newer than the last one.
  void add(const model::Snapshot& snapshot);

  // Adds older samples of a device, which come from a server, before its own samples. `older` is in
  // the order of time.
  void prepend(const model::Device& device, const std::vector<ChartSample>& older);

  // Returns the samples of a device in the order of time.
  [[nodiscard]] const std::deque<ChartSample>& of(const model::Device& device) const;

 private:
  std::map<model::DeviceName, std::deque<ChartSample>> series_;
};

}  // namespace ttmem::tui
