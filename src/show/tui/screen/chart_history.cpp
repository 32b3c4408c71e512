// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/chart_history.hpp"

#include <algorithm>

namespace ttmem::tui {

ChartSample sample_of(const model::Device& d, std::uint64_t time_unix_ns) {
  return {time_unix_ns,           d.used(Kind::dram), d.l1_used_bytes,     d.used(Kind::l1),
          d.used(Kind::l1_small), d.used(Kind::cb),   d.used(Kind::kernel)};
}

void ChartHistory::add(const model::Snapshot& snapshot) {
  const std::uint64_t now = snapshot.time_unix_ns;
  for (const model::Device& device : snapshot.devices) {
    std::deque<ChartSample>& samples = series_[name_of(device)];
    // Keeps the samples in the order of time: if the clock was set back, removes the samples that
    // are not older than the new sample.
    while (!samples.empty() && samples.back().time_unix_ns >= now) samples.pop_back();
    samples.push_back(sample_of(device, now));
  }
  const std::uint64_t oldest = now > kSpanNs ? now - kSpanNs : 0;
  for (auto series = series_.begin(); series != series_.end();) {
    std::deque<ChartSample>& samples = series->second;
    while (!samples.empty() &&
           (samples.front().time_unix_ns < oldest || samples.size() > kMaxSamples)) {
      samples.pop_front();
    }
    series = samples.empty() ? series_.erase(series) : std::next(series);
  }
}

void ChartHistory::prepend(const model::Device& device, const std::vector<ChartSample>& older) {
  std::deque<ChartSample>& samples = series_[name_of(device)];
  std::vector<ChartSample> before;
  for (const ChartSample& sample : older) {
    const bool in_order = before.empty() || before.back().time_unix_ns < sample.time_unix_ns;
    const bool fits = samples.empty() || sample.time_unix_ns < samples.front().time_unix_ns;
    if (in_order && fits) before.push_back(sample);
  }
  const std::size_t room = kMaxSamples - std::min(kMaxSamples, samples.size());
  const std::size_t skip = before.size() - std::min(before.size(), room);
  samples.insert(samples.begin(), before.begin() + static_cast<std::ptrdiff_t>(skip), before.end());
}

const std::deque<ChartSample>& ChartHistory::of(const model::Device& device) const {
  static const std::deque<ChartSample> none;
  const auto found = series_.find(name_of(device));
  return found == series_.end() ? none : found->second;
}

}  // namespace ttmem::tui
