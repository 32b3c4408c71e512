// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyse/leaks/filter.hpp"
#include "analyse/leaks/leaks.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::leaks {

// Returns the leaks that one snapshot shows: all classes except growth. Pure, safe from any thread.
[[nodiscard]] Leaks live_leaks(const model::Snapshot& snapshot, const Filter& filter);

// Finds allocations and programs that grow from look to look. A look is one snapshot. Adds up the
// allocations of each process by kind, scope and label, and counts its programs. Names that differ
// only in numbers count as one name. Not thread-safe.
class LiveGrowth {
 public:
  explicit LiveGrowth(Filter filter) : filter_(std::move(filter)) {}

  void look(const model::Snapshot& snapshot);
  // Returns the groups that grew steadily over all samples, the largest growth first. Growth::mark
  // is empty.
  [[nodiscard]] std::vector<report::Growth> growth() const;

 private:
  // Process, kind, pattern of the scope, pattern of the label, and whether the group is all
  // programs of the process.
  using Key = std::tuple<model::ProcessKey, Kind, std::string, std::string, bool>;
  struct Figures {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };
  struct Group {
    std::string scope;  // the scope; a pattern if the group has scopes with different numbers
    std::string label;  // the label; a pattern if the group has labels with different numbers
    std::string process;
    // The number of each look and the figures of the group in this look. A look without an entry
    // had no allocations or programs of the group.
    std::vector<std::pair<std::uint32_t, Figures>> seen;
  };

  Figures& figures(const Key& key, const std::string& scope, const std::string& label,
                   const std::string& process);
  void look_at_programs(const model::Snapshot& snapshot);
  [[nodiscard]] report::Growth growth_of(const Key& key, const Group& group) const;

  Filter filter_;
  std::map<Key, Group> groups_;
  std::uint32_t looks_ = 0;
};

}  // namespace ttmem::leaks
