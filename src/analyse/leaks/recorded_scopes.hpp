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

// Finds allocations and programs that outlived their scope. Such an allocation or program was still
// live when its process ended, its device was closed, or the recording ended, although its scope
// had been left before.
//
// At the end of a process and at the end of the recording, a recording says which scopes are still
// open. The recording does not say this for the moment at which a device is closed. So for a closed
// device, a scope that was entered only once is not listed: the scope may have been left after the
// close. Not thread-safe; `tables` and `filter` must outlive the object.
class RecordedScopes {
 public:
  // `counts` has one value for each device, which is true if the device is searched.
  RecordedScopes(const recording::Tables& tables, const Filter& filter, std::vector<bool> counts)
      : tables_(tables), filter_(filter), counts_(std::move(counts)) {}

  // Adds a row. Must be called for all rows, in the order of their numbers.
  void add(const recording::RecordedAllocation& allocation);
  void add(const recording::RecordedProgram& program);

  void finish(Leaks& leaks);

 private:
  // The begin of the first row of a mesh buffer, and the devices that were closed before the buffer
  // was freed.
  struct MeshBuffer {
    recording::Time begin_ns = 0;
    std::vector<recording::RowId> left_on{};
  };
  // A step from one row of a buffer to its next row: the time, the process, and the number, request
  // and address, which are equal in both rows.
  using Step = std::tuple<recording::Time, recording::RowId, std::uint64_t, recording::RowId,
                          std::optional<std::uint64_t>>;

  [[nodiscard]] Step step_at(recording::Time time,
                             const recording::RecordedAllocation& allocation) const;
  // Removes and returns the facts about the buffer from its earlier rows.
  [[nodiscard]] MeshBuffer take_over(const recording::RecordedAllocation& allocation);
  // Returns the leak of `bytes` on each of the searched devices among `devices`. The leak has no
  // device if none of `devices` is searched.
  [[nodiscard]] Leak leak_on(const std::vector<recording::RowId>& devices,
                             std::uint64_t bytes) const;
  void add(recording::RowId device, std::uint32_t scope, recording::Ending ending, Outlived::Of of,
           Leak leak);

  const recording::Tables& tables_;
  const Filter& filter_;
  std::vector<bool> counts_;
  std::map<Step, MeshBuffer> going_on_;
  // The programs that were added already, because a program of a mesh counts once.
  std::set<std::pair<recording::RowId, std::uint64_t>> programs_;
  OutlivedScopes outlived_;
};

}  // namespace ttmem::leaks
