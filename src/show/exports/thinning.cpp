// SPDX-License-Identifier: Apache-2.0
#include "show/exports/thinning.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "show/exports/left_at_end.hpp"

namespace ttmem::exports {

using recording::Event;
using recording::RowId;
using recording::Time;

namespace {

constexpr std::size_t kMaxPeaks = 4096;

using AllPeaks = std::vector<std::array<LocalPeaks, kMemories>>;

struct Survey {
  AllPeaks peaks;
  std::uint64_t entries = 0;                // entries of allocations
  std::vector<std::uint64_t> cb_changes{};  // number of changes of circular buffers, by chip
  Time last = 0;
};

// A change of circular buffers is a free (two entries) and an allocation (one entry).
constexpr std::uint64_t kEntriesPerChange = 3;

// An allocation takes one entry, and its free takes two entries.
std::uint64_t entries_of(const recording::EndOnDevice& end) { return end.end_ns ? 3 : 1; }

// Calls visit(begin, end, chip, memory) for an allocation event, once per selected device.
template <typename Visit>
void for_each_selected(const recording::Tables& tables, const Selection& selection,
                       const LeftAtEnd& left, const Event& event, Visit&& visit) {
  if (event.type != Event::Type::allocate) return;
  const Kind kind = tables.request(event.allocation->request).kind;
  if (!selection.has(kind)) return;
  for (const RowId device : tables.device_set(event.allocation->devices)) {
    const std::size_t chip = selection.chip_of(device);
    if (chip == Selection::kNone) continue;
    visit(event.allocation->begin_ns, left.end_on(*event.allocation, device), chip,
          memory_of(kind));
  }
}

Result<Survey> survey(const recording::Reader& reader, const Selection& selection,
                      const LeftAtEnd& left) {
  static_assert(kMemories == 4);
  const LocalPeaks none(kMaxPeaks);
  Survey found{AllPeaks(selection.chips().size(), {none, none, none, none})};
  found.cb_changes.resize(selection.chips().size());
  std::vector<std::uint64_t> cb_bytes(selection.chips().size());
  Usage usage(reader.tables(), selection);
  const auto passed = for_each_moment(
      reader, usage,
      [&](Time time, const std::vector<std::size_t>& changed) {
        found.last = time;
        for (const std::size_t chip : changed) {
          const std::uint64_t cbs = usage.used_bytes(selection.chips()[chip], Kind::cb);
          if (std::exchange(cb_bytes[chip], cbs) != cbs) ++found.cb_changes[chip];
          for (std::size_t memory = 0; memory < kMemories; ++memory) {
            found.peaks[chip][memory].add(
                {usage.used_bytes(selection.chips()[chip], static_cast<Memory>(memory)), time});
          }
        }
      },
      [&](const Event& event) {
        for_each_selected(reader.tables(), selection, left, event,
                          [&](Time, const recording::EndOnDevice& end, std::size_t, Memory) {
                            found.entries += entries_of(end);
                          });
      });
  if (!passed) return passed.error();
  for (auto& chip : found.peaks) {
    for (LocalPeaks& peaks : chip) peaks.finish();
  }
  return found;
}

// Returns the moments to keep for each chip and memory: the times of the peaks, and the end of the
// recording.
Thinning::Moments moments_of(const AllPeaks& peaks, Time end) {
  Thinning::Moments moments(peaks.size());
  for (std::size_t chip = 0; chip < peaks.size(); ++chip) {
    for (std::size_t memory = 0; memory < kMemories; ++memory) {
      auto& times = moments[chip][memory];
      for (const Peak& peak : peaks[chip][memory].peaks()) times.push_back(peak.time_ns);
      times.push_back(end);
    }
  }
  return moments;
}

void halve(AllPeaks& peaks) {
  for (auto& chip : peaks) {
    for (LocalPeaks& of_memory : chip) of_memory.halve();
  }
}

bool any_within(const std::vector<Time>& moments, Time begin, std::optional<Time> end) {
  const auto first = std::lower_bound(moments.begin(), moments.end(), begin);
  return first != moments.end() && (!end || *first < *end);
}

}  // namespace

void LocalPeaks::add(const Peak& value) {
  if (values_ == 0 || value.bytes > open_.bytes) open_ = value;
  if (++values_ < values_per_peak_) return;
  finish();
  if (peaks_.size() < max_peaks_) return;
  halve();
  values_per_peak_ *= 2;
}

void LocalPeaks::finish() {
  if (values_ > 0) peaks_.push_back(open_);
  values_ = 0;
}

void LocalPeaks::halve() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < peaks_.size(); i += 2) {
    const bool second = i + 1 < peaks_.size() && peaks_[i + 1].bytes > peaks_[i].bytes;
    peaks_[kept++] = peaks_[i + (second ? 1 : 0)];
  }
  peaks_.resize(kept);
}

Result<Thinning> Thinning::plan(const recording::Reader& reader, const Selection& selection,
                                std::uint64_t max_entries) {
  const LeftAtEnd left(reader.tables(), selection);
  auto found = survey(reader, selection, left);
  if (!found) return found.error();
  const std::uint64_t cb_changes =
      std::accumulate(found->cb_changes.begin(), found->cb_changes.end(), std::uint64_t{0});
  if (found->entries + cb_changes * kEntriesPerChange <= max_entries) return Thinning{};
  const Time end = std::max(found->last, reader.end_ns());
  // The first plan has all peaks. Each following plan has half of the peaks of the plan before it;
  // the last plan has one peak per memory.
  std::vector<Thinning> plans;
  std::vector<std::uint64_t> entries;
  for (std::size_t peaks = kMaxPeaks; peaks > 0; peaks /= 2) {
    plans.push_back(Thinning(moments_of(found->peaks, end)));
    entries.push_back(plans.back().cb_entries(found->cb_changes));
    halve(found->peaks);
  }
  const auto passed = reader.for_each_event([&](const Event& event) {
    for_each_selected(
        reader.tables(), selection, left, event,
        [&](Time begin, const recording::EndOnDevice& ended, std::size_t chip, Memory memory) {
          // Stops at the first plan that leaves out the allocation. All following plans
          // leave it out too.
          for (std::size_t i = 0; i < plans.size(); ++i) {
            if (!plans[i].keeps(chip, memory, begin, ended.end_ns)) break;
            entries[i] += entries_of(ended);
          }
        });
    return true;
  });
  if (!passed) return passed.error();
  std::size_t chosen = 0;
  while (chosen + 1 < plans.size() && entries[chosen] > max_entries) ++chosen;
  return std::move(plans[chosen]);
}

std::uint64_t Thinning::cb_entries(const std::vector<std::uint64_t>& changes) const {
  std::uint64_t sum = 0;
  for (std::size_t chip = 0; chip < moments_.size(); ++chip) {
    const auto& moments = moments_[chip][static_cast<std::size_t>(Memory::l1)];
    sum += std::min<std::uint64_t>(changes[chip], moments.size()) * kEntriesPerChange;
  }
  return sum;
}

bool Thinning::keeps(std::size_t chip, Memory memory, Time begin, std::optional<Time> end) const {
  return !is_needed() || any_within(moments_[chip][static_cast<std::size_t>(memory)], begin, end);
}

bool Thinning::is_kept(std::size_t chip, Memory memory, Time time) const {
  if (!is_needed()) return true;
  const auto& moments = moments_[chip][static_cast<std::size_t>(memory)];
  return std::binary_search(moments.begin(), moments.end(), time);
}

}  // namespace ttmem::exports
