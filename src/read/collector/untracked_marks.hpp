// SPDX-License-Identifier: Apache-2.0
// Reads and removes the marks of processes that could not create a segment. A mark is a symbolic
// link, because a link can be created even if the directory has no free space.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/collector/collector.hpp"
#include "read/collector/segment_files.hpp"

namespace ttmem::collector {

// The parts of the name `ttmem.<uid>.<pid>.<start time>.untracked.<errno>.<pid namespace>`.
struct UntrackedName {
  SegmentName process;
  std::int32_t error = 0;
  std::uint32_t pid_namespace = 0;  // 0: unknown
};
[[nodiscard]] std::optional<UntrackedName> parse_untracked_name(std::string_view name);

struct UntrackedMark {
  std::string name;
  UntrackedName says;
  Owner process = Owner::unknown;  // unknown for another pid namespace
  std::vector<std::string> runs;   // public ids of its runs, innermost first
};

// Returns nullopt if the file is gone, is not a mark, or does not belong to the user of its
// process.
[[nodiscard]] std::optional<UntrackedMark> read_untracked(const Listing& listing,
                                                          const std::string& name);

// The number of untracked processes by reason.
using NotTracked = std::map<std::string, std::uint64_t>;
void count(const UntrackedMark& mark, NotTracked& counts);
// Returns one sentence per reason: "3 processes were not tracked: No space left on device".
[[nodiscard]] std::vector<std::string> sentences(const NotTracked& counts);
// Returns the next step for a user whose processes were not tracked.
[[nodiscard]] std::string advice_for_untracked(const std::string& directory);

// Returns the marks that this user may remove. Leaves out the marks of living processes, and the
// marks of runs with a living reader, because the reader removes these marks.
[[nodiscard]] std::vector<UntrackedMark> find_dead_marks(const Listing& listing);
[[nodiscard]] std::vector<UntrackedMark> find_dead_marks(const std::string& directory);
// Removes the marks. Returns how many marks were removed.
std::uint64_t remove_marks(const std::string& directory, const std::vector<UntrackedMark>& marks);

}  // namespace ttmem::collector
