// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/database.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::recording {

// The content of a recording, except allocations, programs and dispatches, which may be millions. A
// name of more than 4096 bytes is visibly shortened in the middle.
struct Tables {
  Run run;
  // Row `id` has the index id - 1 in the vectors from `processes` to `launches`.
  std::vector<RecordedProcess> processes;
  std::vector<RecordedDevice> devices;
  std::vector<std::vector<RowId>> device_sets;
  std::vector<std::string> texts;
  std::vector<std::string> scopes;
  std::map<std::pair<RowId, std::uint32_t>, ScopeVisits> scope_visits;  // by process and scope
  std::vector<CoreMask> core_sets;
  std::vector<RecordedRequest> requests;
  std::vector<Layout> layouts;
  std::vector<Launch> launches;
  std::vector<Mark> marks;                // sorted by time
  std::vector<RecordedFailure> failures;  // sorted by time
  std::vector<Gap> gaps;                  // sorted by begin
  std::vector<RecordedSample> timeline;   // sorted by time
  bool has_partial_ends = false;          // false in recordings of older versions

  [[nodiscard]] const RecordedProcess& process(RowId id) const { return processes[index(id)]; }
  [[nodiscard]] const RecordedDevice& device(RowId id) const { return devices[index(id)]; }
  [[nodiscard]] const std::vector<RowId>& device_set(RowId id) const {
    return device_sets[index(id)];
  }
  [[nodiscard]] const RecordedRequest& request(RowId id) const { return requests[index(id)]; }
  [[nodiscard]] const Layout& layout(RowId id) const { return layouts[index(id)]; }
  [[nodiscard]] const Launch& launch(RowId id) const { return launches[index(id)]; }
  [[nodiscard]] std::string_view text(std::uint32_t id) const {
    return id == 0 ? std::string_view{} : texts[id - 1];
  }
  [[nodiscard]] std::string_view scope(std::uint32_t id) const {
    return id == 0 ? std::string_view{} : scopes[id - 1];
  }
  // Returns how often a process visited a scope; unknown if the recording does not contain this
  // number.
  [[nodiscard]] ScopeVisits visits(RowId process, std::uint32_t scope) const {
    const auto found = scope_visits.find({process, scope});
    return found == scope_visits.end() ? ScopeVisits{} : found->second;
  }
  [[nodiscard]] const CoreMask& core_set(std::uint32_t id) const { return core_sets[id - 1]; }

 private:
  [[nodiscard]] static std::size_t index(RowId id) { return static_cast<std::size_t>(id - 1); }
};

// The end of an allocation on one of its devices.
struct EndOnDevice {
  std::optional<Time> end_ns{};
  Ending ending = Ending::none;
};

[[nodiscard]] inline EndOnDevice end_on(const Tables& tables, const RecordedAllocation& allocation,
                                        RowId device) {
  for (const PartialEnd& part : allocation.partial_ends) {
    const std::vector<RowId>& ended = tables.device_set(part.devices);
    if (std::binary_search(ended.begin(), ended.end(), device)) return {part.end_ns, part.ending};
  }
  return {allocation.end_ns, allocation.ending};
}

// Returns the devices on which an allocation was left, because it had not been freed when the
// device was closed or the process ended. In recordings of older versions the row of a mesh buffer
// ends as `changed` when one of its devices is closed, and another row continues the buffer on the
// other devices.
[[nodiscard]] inline std::vector<RowId> left_on(const Tables& tables,
                                                const RecordedAllocation& allocation) {
  std::vector<RowId> left;
  const auto add = [&](RowId set) {
    const std::vector<RowId>& devices = tables.device_set(set);
    left.insert(left.end(), devices.begin(), devices.end());
  };
  for (const PartialEnd& part : allocation.partial_ends) {
    if (was_left(part.ending)) add(part.devices);
  }
  if (was_left(allocation.ending)) add(allocation.last_devices());
  if (allocation.ending != Ending::changed || !allocation.end_ns) return left;
  for (const RowId device : tables.device_set(allocation.last_devices())) {
    if (tables.device(device).end_ns == allocation.end_ns) left.push_back(device);
  }
  return left;
}

// Fails if the file is not a recording, or refers to rows that it does not have.
[[nodiscard]] Result<Tables> read_tables(Database& database);

}  // namespace ttmem::recording
