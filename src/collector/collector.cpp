// SPDX-License-Identifier: Apache-2.0
#include "collector/collector.hpp"

#include <cstdlib>

#include "collector/build_snapshot.hpp"
#include "collector/gather.hpp"

namespace ttmem::collector {

std::string segment_directory() {
  const char* directory = std::getenv("TTMEM_DIR");
  return directory != nullptr && *directory != '\0' ? directory : "/dev/shm";
}

model::Snapshot collect(const std::string& directory) { return build_snapshot(gather(directory)); }

const model::Snapshot& Collector::collect_figures() {
  evidence_ = gather(directory_, std::move(evidence_));
  if (evidence_.changed) {
    snapshot_ = build_snapshot(evidence_);
    ages_ns_ = evidence_.monotonic_ns;
  }
  snapshot_.time_unix_ns = evidence_.time_unix_ns;
  return snapshot_;
}

const model::Snapshot& Collector::collect() {
  (void)collect_figures();
  const std::uint64_t passed_ns = evidence_.monotonic_ns - ages_ns_;
  const auto make_older = [passed_ns](auto& items) {
    for (auto& item : items) {
      if (item.age_ns != 0) item.age_ns += passed_ns;  // 0: its age cannot be said
    }
  };
  if (passed_ns != 0) {
    make_older(snapshot_.allocations);
    make_older(snapshot_.programs);
    ages_ns_ = evidence_.monotonic_ns;
  }
  return snapshot_;
}

}  // namespace ttmem::collector
