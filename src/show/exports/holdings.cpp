// SPDX-License-Identifier: Apache-2.0
#include "show/exports/holdings.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "read/recording/file/openings.hpp"
#include "show/exports/cb_shares.hpp"

namespace ttmem::exports {

using recording::Ending;
using recording::Event;
using recording::RowId;
using recording::Tables;
using recording::Time;

namespace {

// The identity of a StackHolding: a request on a device, or all programs with the same name, scope
// and layout on a device.
struct StackHoldingKey {
  RowId device = 0;
  RowId request = 0;  // 0: a program
  RowId layout = 0;
  std::uint32_t name = 0;
  std::uint32_t scope = 0;

  friend bool operator==(const StackHoldingKey&, const StackHoldingKey&) = default;
  friend std::size_t hash_value(const StackHoldingKey& key) {
    std::size_t seed = 0;
    for (const auto part : {key.device, key.request, key.layout, RowId{key.name}, RowId{key.scope}})
      boost::hash_combine(seed, part);
    return seed;
  }
};

struct HoldingCounts {
  std::uint64_t live = 0;
  std::uint64_t left = 0;  // number of objects that were not freed at the last close of the device
  std::uint64_t allocated = 0;
  Amount at_end{};
  Amount at_peak{};
  Amount at_time{};
};

class Collection {
 public:
  Collection(const recording::Reader& reader, const Selection& selection, const Peaks& peaks,
             Time time_ns)
      : reader_(reader),
        tables_(reader.tables()),
        selection_(selection),
        is_last_(recording::last_openings(tables_)),
        time_ns_(time_ns) {
    for (std::size_t chip = 0; chip < peaks.size(); ++chip) {
      for (std::size_t memory = 0; memory < kMemories; ++memory) {
        if (peaks[chip][memory].bytes == 0) continue;
        moments_.push_back({peaks[chip][memory].time_ns, chip, static_cast<Memory>(memory)});
      }
    }
    std::sort(moments_.begin(), moments_.end());
  }

  Result<std::vector<StackHolding>> read() {
    const auto passed = reader_.for_each_event([&](const Event& event) {
      if (time_ns_ && *time_ns_ < event.time_ns) take_time();
      take_peaks_before(event.time_ns);
      count(event);
      return true;
    });
    if (!passed) return passed.error();
    take_peaks_before(std::nullopt);
    if (time_ns_) take_time();
    for (auto& [key, counts] : counts_) counts.live += counts.left;
    take(&HoldingCounts::at_end, [](const StackHoldingKey&) { return true; });
    return holdings();
  }

 private:
  using ExportMoment = std::tuple<Time, std::size_t, Memory>;

  void count(const Event& event) {
    using enum Event::Type;
    if (event.type == allocate || event.type == free) {
      count(*event.allocation, event.type == allocate);
    } else if (event.type == place || event.type == remove) {
      count(*event.program, event.type == place);
    }
  }
  void count(const recording::RecordedAllocation& allocation, bool begins) {
    if (!selection_.has(tables_.request(allocation.request).kind)) return;
    std::vector<RowId> left;
    if (!begins) left = recording::left_on(tables_, allocation);
    for (const RowId device : tables_.device_set(allocation.devices)) {
      if (!selection_.has(device)) continue;
      const StackHoldingKey key{.device = device, .request = allocation.request};
      begins ? begin(key) : end(key, std::find(left.begin(), left.end(), device) != left.end());
    }
  }
  void count(const recording::RecordedProgram& program, bool begins) {
    if (!selection_.has(Kind::cb) || !selection_.has(program.device) || program.layout == 0) return;
    const StackHoldingKey key{.device = program.device,
                              .layout = program.layout,
                              .name = program.name,
                              .scope = program.scope};
    begins ? begin(key)
           : end(key, program.ending == Ending::device_closed ||
                          program.ending == Ending::process_ended);
  }
  void begin(const StackHoldingKey& key) {
    HoldingCounts& counts = counts_[key];
    ++counts.live;
    ++counts.allocated;
  }
  // Counts the end of an object. `left` is true if the object ended because its device was closed
  // or its process ended.
  void end(const StackHoldingKey& key, bool left) {
    HoldingCounts& counts = counts_[key];
    --counts.live;
    if (left && is_last_[static_cast<std::size_t>(key.device - 1)]) ++counts.left;
  }

  void take_time() {
    take(&HoldingCounts::at_time, [](const StackHoldingKey&) { return true; });
    time_ns_.reset();
  }
  // Stores the live objects at each peak before `time`, or at all remaining peaks if `time` is
  // nullopt. All events before `time` must be counted already.
  void take_peaks_before(std::optional<Time> time) {
    while (next_ < moments_.size() && (!time || std::get<Time>(moments_[next_]) < *time)) {
      const auto [at, chip, memory] = moments_[next_++];
      take(&HoldingCounts::at_peak, [&, chip = chip, memory = memory](const StackHoldingKey& key) {
        return selection_.chip_of(key.device) == chip && memory_of(kind_of(key)) == memory;
      });
    }
  }

  // Stores the number of live objects and their bytes in the member `where`, for all keys for which
  // wanted(key) is true.
  template <typename Wanted>
  void take(Amount HoldingCounts::*where, Wanted&& wanted) {
    boost::unordered_flat_map<RowId, std::vector<StackHoldingKey>> programs;  // by device
    for (auto& [key, counts] : counts_) {
      if (counts.live == 0 || !wanted(key)) continue;
      if (key.request == 0) {
        programs[key.device].push_back(key);
      } else {
        counts.*where = {counts.live, counts.live * tables_.request(key.request).used_bytes()};
      }
    }
    for (auto& [device, keys] : programs) take_shares(where, keys);
  }
  void take_shares(Amount HoldingCounts::*where, std::vector<StackHoldingKey>& keys) {
    // Sorts the keys. Bytes that cannot be divided evenly then always go to the same keys.
    std::sort(keys.begin(), keys.end(), [](const StackHoldingKey& a, const StackHoldingKey& b) {
      return std::tie(a.layout, a.name, a.scope) < std::tie(b.layout, b.name, b.scope);
    });
    std::vector<Sharer> sharers;
    sharers.reserve(keys.size());
    for (const StackHoldingKey& key : keys)
      sharers.push_back({&tables_.layout(key.layout), counts_[key].live});
    const std::vector<std::uint64_t> shares =
        cb_shares(tables_.device(keys.front().device), sharers);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      counts_[keys[i]].*where = {sharers[i].programs, shares[i]};
    }
  }

  [[nodiscard]] Kind kind_of(const StackHoldingKey& key) const {
    return key.request == 0 ? Kind::cb : tables_.request(key.request).kind;
  }

  std::vector<StackHolding> holdings() {
    std::vector<StackHolding> rows;
    for (const auto& [key, counts] : counts_) {
      const bool program = key.request == 0;
      const std::uint64_t each =
          program ? cb_bytes(tables_.device(key.device), tables_.layout(key.layout))
                  : tables_.request(key.request).used_bytes();
      rows.push_back({key.device,
                      kind_of(key),
                      each,
                      program ? stack_of(tables_, key.device, key.name, key.scope)
                              : stack_of(tables_, key.device, tables_.request(key.request)),
                      {counts.allocated, counts.allocated * each},
                      counts.at_end,
                      counts.at_peak,
                      counts.at_time});
    }
    std::sort(rows.begin(), rows.end(), [](const StackHolding& a, const StackHolding& b) {
      return std::tie(a.device, a.kind, a.stack, a.object_bytes) <
             std::tie(b.device, b.kind, b.stack, b.object_bytes);
    });
    return rows;
  }

  const recording::Reader& reader_;
  const Tables& tables_;
  const Selection& selection_;
  std::vector<bool> is_last_;
  std::optional<Time> time_ns_;  // nullopt after take_time()
  std::vector<ExportMoment> moments_;
  std::size_t next_ = 0;
  boost::unordered_flat_map<StackHoldingKey, HoldingCounts> counts_;
};

}  // namespace

Result<StackHoldings> read_holdings(const recording::Reader& reader, const Selection& selection,
                                    Time time_ns) {
  auto peaks = find_peaks(reader, selection);
  if (!peaks) return peaks.error();
  auto rows = Collection(reader, selection, *peaks, time_ns).read();
  if (!rows) return rows.error();
  return StackHoldings{std::move(*rows), std::move(*peaks)};
}

}  // namespace ttmem::exports
