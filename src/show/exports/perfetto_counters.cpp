// SPDX-License-Identifier: Apache-2.0
#include "show/exports/perfetto_counters.hpp"

#include <algorithm>

namespace ttmem::exports {
namespace {

constexpr PerKind<std::string_view> kCounterNames = {
    {"DRAM", "L1 buffers", "L1_SMALL", "Trace", "CB", "Kernels", "Host memory"}};
// The ranks of counters that are not for one kind. The rank of a kind's counter is the number of
// the kind.
enum CounterRank : std::uint64_t { kL1Total = 10, kResident = 11 };

}  // namespace

void PerfettoCounter::set(PerfettoTrace& trace, TrackId parent, std::string_view name,
                          std::uint64_t rank, std::string_view scale, recording::Time time,
                          std::uint64_t value) {
  if (track_ == 0) track_ = trace.add_counter(parent, name, rank, scale);
  if (value_ != value) trace.set_counter(track_, time, value);
  value_ = value;
}

PerfettoCounters::PerfettoCounters(PerfettoTrace& trace, const Selection& selection,
                                   const ExportedChip& chip, TrackId parent)
    : trace_(trace),
      selection_(selection),
      chip_(chip),
      parent_(parent),
      has_all_of_l1_(std::all_of(kAllKinds.begin(), kAllKinds.end(), [&](Kind kind) {
        return !is_in_l1(kind) || selection.has(kind);
      })) {}

void PerfettoCounters::open(const recording::RecordedDevice& device) {
  for (const Kind kind : kAllKinds) {
    const bool known = (device.known_kinds >> static_cast<unsigned>(kind) & 1) != 0;
    known_[kind] = known_[kind] || (known && selection_.has(kind));
  }
  resident_known_ = resident_known_ || (device.resident_known && selection_.has(Kind::cb));
}

void PerfettoCounters::write(const Usage& usage, recording::Time time) {
  PerKind<std::uint64_t> used_bytes{};
  for (const Kind kind : kAllKinds) used_bytes[kind] = usage.used_bytes(chip_, kind);
  write(used_bytes, usage.resident_bytes(chip_), time);
}

void PerfettoCounters::write(const PerKind<std::uint64_t>& used_bytes,
                             std::optional<std::uint64_t> resident, recording::Time time) {
  bool l1_known = false;
  std::uint64_t l1_bytes = 0;
  for (const Kind kind : kAllKinds) {
    const std::uint64_t value = used_bytes[kind];
    known_[kind] = known_[kind] || value > 0;
    if (!known_[kind]) continue;
    kinds_[kind].set(trace_, parent_, kCounterNames[kind], static_cast<std::uint64_t>(kind),
                     is_in_l1(kind) ? "l1" : "dram", time, value);
    if (!is_in_l1(kind)) continue;
    l1_known = true;
    l1_bytes += value;
  }
  if (l1_known && has_all_of_l1_) {
    l1_.set(trace_, parent_, "L1", kL1Total, "l1", time, l1_bytes);
  }
  if (resident_known_ && resident) {
    resident_.set(trace_, parent_, "CB resident", kResident, "l1", time, *resident);
  }
}

}  // namespace ttmem::exports
