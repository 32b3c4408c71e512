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

// The leaks that one moment shows: all but what grows. Pure, safe from any thread.
[[nodiscard]] Leaks live_leaks(const model::Snapshot& snapshot, const Filter& filter);

// What grows from look to look: allocations of a process by kind, scope and label, where numbers in
// names do not count, and its programs. Not thread-safe.
class LiveGrowth {
 public:
  explicit LiveGrowth(Filter filter) : filter_(std::move(filter)) {}

  void look(const model::Snapshot& snapshot);
  // Those that grew steadily over all looks, what grew most first. Growth::mark is empty.
  [[nodiscard]] std::vector<report::Growth> growth() const;

 private:
  // The process, kind, patterns of scope and label, and whether it is all of its programs.
  using Key = std::tuple<model::ProcessKey, Kind, std::string, std::string, bool>;
  struct Figures {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };
  struct Group {
    std::string scope;  // its pattern, when several differ in numbers
    std::string label;  // the same
    std::string process;
    std::vector<std::pair<std::uint32_t, Figures>> seen;  // by look; none: it had nothing then
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
