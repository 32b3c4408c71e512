// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/kinds.hpp"
#include "show/exports/perfetto_trace.hpp"
#include "show/exports/selection.hpp"
#include "show/exports/usage.hpp"

namespace ttmem::exports {

// A value over time. Its track begins with its first value.
class PerfettoCounter {
 public:
  void set(PerfettoTrace& trace, TrackId parent, std::string_view name, std::uint64_t rank,
           std::string_view scale, recording::Time time, std::uint64_t value);

 private:
  TrackId track_ = 0;
  std::optional<std::uint64_t> value_;
};

// The counters of one chip: one for each kind that somebody reports, their sum in L1, and what is
// resident. The arguments must outlive it.
class PerfettoCounters {
 public:
  PerfettoCounters(PerfettoTrace& trace, const Selection& selection, const ExportedChip& chip,
                   TrackId parent);

  // What its process reports has a value from now on, also when that is 0.
  void open(const recording::RecordedDevice& device);
  // Those that have changed.
  void write(const Usage& usage, recording::Time time);
  // The same; `resident` none: unknown.
  void write(const PerKind<std::uint64_t>& used_bytes, std::optional<std::uint64_t> resident,
             recording::Time time);

 private:
  PerfettoTrace& trace_;
  const Selection& selection_;
  const ExportedChip& chip_;
  TrackId parent_;
  bool has_all_of_l1_;
  bool resident_known_ = false;
  PerKind<bool> known_{};
  PerKind<PerfettoCounter> kinds_{};
  PerfettoCounter l1_;
  PerfettoCounter resident_;
};

}  // namespace ttmem::exports
