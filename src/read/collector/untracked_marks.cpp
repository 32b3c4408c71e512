// SPDX-License-Identifier: Apache-2.0
#include "read/collector/untracked_marks.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <system_error>
#include <utility>

#include "base/parse_number.hpp"
#include "base/plural.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/run_id.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/run_ids.hpp"

namespace ttmem::collector {
namespace {

// Returns whether the process of the mark lives. A process with the same pid and another start time
// is a different process.
Owner owner_of(const UntrackedName& says, const std::optional<ProcessFacts>& facts) {
  if (says.pid_namespace == 0 || says.pid_namespace != own_pid_namespace()) return Owner::unknown;
  const bool same = facts && facts->start_time_ticks == says.process.start_time_ticks;
  return same && !facts->is_ending ? Owner::alive : Owner::gone;
}

}  // namespace

std::optional<UntrackedName> parse_untracked_name(std::string_view name) {
  const std::size_t at = name.find(segment::kUntrackedSuffix);
  if (at == std::string_view::npos) return std::nullopt;
  const auto process = parse_segment_name(name.substr(0, at));
  const std::string_view rest = name.substr(at + segment::kUntrackedSuffix.size());
  const std::size_t dot = rest.find('.');
  if (!process || process->for_client || dot == std::string_view::npos) return std::nullopt;
  const auto error = parse_number<std::int32_t>(rest.substr(0, dot));
  const auto space = parse_number<std::uint32_t>(rest.substr(dot + 1));
  if (!error || *error <= 0 || !space) return std::nullopt;
  return UntrackedName{*process, *error, *space};
}

std::optional<UntrackedMark> read_untracked(const Listing& listing, const std::string& name) {
  const auto says = parse_untracked_name(name);
  if (!says) return std::nullopt;
  struct stat facts {};
  std::array<char, 1024> target{};
  const int directory = listing.fd.get();
  if (::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (!S_ISLNK(facts.st_mode) || facts.st_uid != says->process.uid) return std::nullopt;
  const ssize_t size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  if (size < 0) return std::nullopt;
  const auto process = process_facts(says->process.pid);
  UntrackedMark mark{.name = name, .says = *says, .process = owner_of(*says, process), .runs = {}};
  if (mark.process == Owner::alive && !process->owned_by(facts.st_uid)) return std::nullopt;
  mark.runs = segment::split_run_ids(std::string(target.data(), static_cast<std::size_t>(size)));
  return mark;
}

void count(const UntrackedMark& mark, NotTracked& counts) {
  ++counts[std::generic_category().message(mark.says.error)];
}

std::vector<std::string> sentences(const NotTracked& counts) {
  std::vector<std::string> list;
  list.reserve(counts.size());
  for (const auto& [why, number] : counts) {
    list.push_back(
        fmt::format("{} not tracked: {}", plural(number, "process was", "processes were"), why));
  }
  return list;
}

std::string advice_for_untracked(const std::string& directory) {
  return fmt::format(
      "free space in {} (`ttmem clean` removes what dead processes left), and start them again",
      directory);
}

std::vector<UntrackedMark> find_dead_marks(const Listing& listing) {
  std::vector<UntrackedMark> dead;
  for (const std::string& name : listing.marks) {
    std::optional<UntrackedMark> mark = read_untracked(listing, name);
    if (!mark || mark->process == Owner::alive || has_reader(mark->runs)) continue;
    const bool ours = ::geteuid() == 0 || mark->says.process.uid == ::geteuid();
    if (ours) dead.push_back(std::move(*mark));
  }
  return dead;
}

std::vector<UntrackedMark> find_dead_marks(const std::string& directory) {
  const Result<Listing> listing = list_directory(directory);
  return listing ? find_dead_marks(*listing) : std::vector<UntrackedMark>();
}

std::uint64_t remove_marks(const std::string& directory, const std::vector<UntrackedMark>& marks) {
  std::uint64_t removed = 0;
  for (const UntrackedMark& mark : marks) {
    if (::unlink((directory + "/" + mark.name).c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace ttmem::collector
