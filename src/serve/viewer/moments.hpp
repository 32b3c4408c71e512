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

// The snapshots at some moments, in the form that the page receives. Data that two moments share is
// stored once.
class MomentTables {
 public:
  // Adds the snapshot at a moment. Must be called in the order of time.
  void add(const ChosenMoment& moment, model::Snapshot snapshot);

  // Returns the members "moments", "figures", "cores", "layouts", "allocations" and "programs" of
  // ttmem.timeline.v1 (docs/guides/page.md), without braces.
  [[nodiscard]] std::string json() const;
  // Returns about the length of json().
  [[nodiscard]] std::size_t bytes() const;
  // Returns the highest number of rows that were left out of one list at one moment. A list that is
  // too long has only its largest rows.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  struct LastCores {
    std::vector<model::Core> cores;
    std::size_t number = 0;  // number of the text in cores_
  };

  std::size_t number_of_cores(const std::string& key, const std::vector<model::Core>& cores);
  void add_allocations(const model::Snapshot& snapshot, Time now);
  void add_programs(const model::Snapshot& snapshot, Time now);

  std::vector<std::string> moments_;  // JSON
  Texts figures_;
  Texts cores_;
  // The cores at the last moment, by the key of the chip. Most chips have the same cores at the
  // next moment, and their JSON is then not made again.
  std::map<std::string, LastCores> last_cores_;
  Texts layouts_;
  LiveRows allocations_;
  LiveRows programs_;
  std::size_t left_out_ = 0;
};

// The limits of the tables that play() makes.
struct PlayLimits {
  std::size_t bytes = 0;
  std::size_t device_rows = 0;  // maximum sum over all moments of the (device, process) pairs
  // Maximum number of moments. If there are too many device rows, play() lowers the maximum to the
  // number of moments that fit.
  std::size_t moments = std::numeric_limits<std::size_t>::max();
};

// Reads the recording and returns tables with the snapshots at these moments. Returns nullopt if
// the snapshots exceed the limits. `progress` is called with the completed part, 0 to 1; may be
// empty.
[[nodiscard]] Result<std::optional<MomentTables>> play(const recording::Reader& reader,
                                                       const std::vector<ChosenMoment>& moments,
                                                       PlayLimits& limits,
                                                       const std::function<void(double)>& progress);

}  // namespace ttmem::viewer
