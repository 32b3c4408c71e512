// SPDX-License-Identifier: Apache-2.0
#include "read/collector/collector.hpp"

#include "read/collector/build_snapshot.hpp"
#include "read/collector/gather.hpp"

namespace ttmem::collector {

model::Snapshot collect(const std::string& directory) { return build_snapshot(gather(directory)); }

void Collector::pass() {
  evidence_ = gather(directory_, std::move(evidence_));
  if (evidence_.changed) built_ = Built::nothing;
  snapshot_.time_unix_ns = evidence_.time_unix_ns;
  set_sensors(evidence_.driver, snapshot_);
}

const model::Snapshot& Collector::collect_figures() {
  pass();
  if (built_ == Built::nothing) {
    snapshot_ = build_figures(evidence_);
    built_ = Built::figures;
  }
  return snapshot_;
}

const model::Snapshot& Collector::collect() {
  pass();
  if (built_ == Built::all) {
    make_older(evidence_.monotonic_ns - ages_ns_);
  } else {
    snapshot_ = build_snapshot(evidence_);
    built_ = Built::all;
  }
  ages_ns_ = evidence_.monotonic_ns;
  return snapshot_;
}

void Collector::make_older(std::uint64_t passed_ns) {
  const auto each = [passed_ns](auto& items) {
    for (auto& item : items) {
      if (item.age_ns != 0) item.age_ns += passed_ns;  // an age of 0 means "unknown" and stays 0
    }
  };
  each(snapshot_.allocations);
  each(snapshot_.programs);
}

}  // namespace ttmem::collector
