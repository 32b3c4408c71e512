// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "read/recording/file/reader.hpp"
#include "serve/viewer/choose_moments.hpp"
#include "serve/viewer/live_rows.hpp"

namespace ttmem::viewer {

// What was held at some moments, as the page gets it: what two moments have in common is there
// once.
class MomentTables {
 public:
  // In the order of time; `snapshot` is what was held then.
  void add(const ChosenMoment& moment, model::Snapshot snapshot);

  // The members "moments", "figures", "cores", "layouts", "allocations" and "programs" of
  // ttmem.timeline.v1 (docs/guides/page.md), without braces.
  [[nodiscard]] std::string json() const;
  // About how long that is.
  [[nodiscard]] std::size_t bytes() const;
  // The most that a list lacks: only the largest are in it.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  struct LastCores {
    std::vector<model::Core> cores;
    std::size_t number = 0;  // in cores_
  };

  std::size_t number_of_cores(const std::string& key, const std::vector<model::Core>& cores);
  void add_allocations(const model::Snapshot& snapshot, Time now);
  void add_programs(const model::Snapshot& snapshot, Time now);

  std::vector<std::string> moments_;  // JSON
  Texts figures_;
  Texts cores_;
  std::map<std::string, LastCores> last_cores_;  // by chip: most are what they were
  Texts layouts_;
  LiveRows allocations_;
  LiveRows programs_;
  std::size_t left_out_ = 0;
};

// What the tables may take.
struct PlayLimits {
  std::size_t bytes = 0;
  std::size_t device_rows = 0;  // a device that a process has open, at each moment
  std::size_t moments = std::numeric_limits<std::size_t>::max();  // lowered to what had room
};

// Plays the recording through these moments. None: there is no room for all of them.
// `progress` is called with the part that is done, 0 to 1; may be empty.
[[nodiscard]] Result<std::optional<MomentTables>> play(const recording::Reader& reader,
                                                       const std::vector<ChosenMoment>& moments,
                                                       PlayLimits& limits,
                                                       const std::function<void(double)>& progress);

}  // namespace ttmem::viewer
