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

// A value over time. Its track is created with the first value.
class PerfettoCounter {
 public:
  void set(PerfettoTrace& trace, TrackId parent, std::string_view name, std::uint64_t rank,
           std::string_view scale, recording::Time time, std::uint64_t value);

 private:
  TrackId track_ = 0;
  std::optional<std::uint64_t> value_;
};

// The counters of one chip: one for each reported kind, one for all of L1, and one for resident
// circular buffers. The arguments of the constructor must outlive the object.
class PerfettoCounters {
 public:
  PerfettoCounters(PerfettoTrace& trace, const Selection& selection, const ExportedChip& chip,
                   TrackId parent);

  // Starts the counters of the kinds that the device's process reports, even if their values are 0.
  void open(const recording::RecordedDevice& device);
  // Writes the counters that have changed.
  void write(const Usage& usage, recording::Time time);
  // Writes the counters whose values have changed. `resident` is nullopt if unknown.
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
