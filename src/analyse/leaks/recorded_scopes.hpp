// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyse/leaks/filter.hpp"
#include "analyse/leaks/outlived_scopes.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::leaks {

// What was there at the end of its process, of its device or of the recording although its scope
// had been left.
//
// Whether a scope was left is known of the end of its process, or of the recording. A device may be
// closed in a scope that is left later: so of what was left on closed devices, scopes that were
// entered only once are not told. Not thread-safe; `tables` and `filter` must outlive it.
class RecordedScopes {
 public:
  // `counts` says of each device whether it is looked at.
  RecordedScopes(const recording::Tables& tables, const Filter& filter, std::vector<bool> counts)
      : tables_(tables), filter_(filter), counts_(std::move(counts)) {}

  // All rows, by their numbers.
  void add(const recording::Allocation& allocation);
  void add(const recording::Program& program);

  void finish(Leaks& leaks);

 private:
  // A buffer of a mesh: since its first row, and the devices that were closed without a free.
  struct MeshBuffer {
    recording::Time begin_ns = 0;
    std::vector<recording::RowId> left_on{};
  };
  // When one row ends and the next begins; the process; number, request and address of both.
  using Step = std::tuple<recording::Time, recording::RowId, std::uint64_t, recording::RowId,
                          std::optional<std::uint64_t>>;

  [[nodiscard]] Step step_at(recording::Time time, const recording::Allocation& allocation) const;
  // What the rows before this one said of the buffer.
  [[nodiscard]] MeshBuffer take_over(const recording::Allocation& allocation);
  // What is on those devices that count; on none of them, its list of devices is empty.
  [[nodiscard]] Leak leak_on(const std::vector<recording::RowId>& devices) const;
  void add(recording::RowId device, std::uint32_t scope, recording::Ending ending, Outlived::Of of,
           Leak leak);

  const recording::Tables& tables_;
  const Filter& filter_;
  std::vector<bool> counts_;
  std::map<Step, MeshBuffer> going_on_;
  std::set<std::pair<recording::RowId, std::uint64_t>> programs_;  // one of a mesh counts once
  OutlivedScopes outlived_;
};

}  // namespace ttmem::leaks
