// SPDX-License-Identifier: Apache-2.0
#include "collector/untracked.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/environment.hpp"
#include "base/read_text.hpp"
#include "collector/process_info.hpp"
#include "segment/reader/safe_text.hpp"

namespace ttmem::collector {
namespace {

using model::State;

constexpr std::size_t kMostEnvironment = 1 << 20;
constexpr std::size_t kMostMaps = 16 << 20;

std::set<std::int32_t> tracked_pids(const Evidence& evidence) {
  std::set<std::int32_t> pids;
  for (const SegmentEvidence& segment : evidence.segments) {
    if (segment.state != State::alive) continue;
    if (segment.host_pid) pids.insert(*segment.host_pid);
    if (!segment.foreign_pid) pids.insert(segment.image.pid);
  }
  for (const RegionEvidence& region : evidence.regions) {
    for (const RowEvidence& row : region.rows) {
      if (row.state == State::alive) pids.insert(row.row.pid);
    }
  }
  return pids;
}

// Processes whose pid this one cannot see, some of which have segments: then those may be the ones.
bool has_foreign_segment(const Evidence& evidence) {
  return std::any_of(evidence.segments.begin(), evidence.segments.end(), [](const auto& segment) {
    return segment.state == State::alive && segment.foreign_pid && !segment.host_pid;
  });
}

// What a process has in its environment; "" when it is unset.
std::string variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
  }
  return {};
}

// Whether both mean the same directory; none when one cannot be looked at.
std::optional<bool> same_directory(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  if (::stat(a.c_str(), &one) != 0 || ::stat(b.c_str(), &other) != 0) return std::nullopt;
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool has_runtime(std::string_view maps) {
  return maps.find("libtt_metal") != std::string_view::npos ||
         maps.find("ttnn") != std::string_view::npos;
}

class Reasoner {
 public:
  Reasoner(const Evidence& evidence, const Listing* listing)
      : evidence_(evidence), listing_(listing) {}

  [[nodiscard]] Untracked look_at(std::int32_t pid, const ProcessFacts& facts) const {
    const std::string folder = fmt::format("/proc/{}", pid);
    Untracked found;
    found.pid = pid;
    found.start_time_ticks = facts.start_time_ticks;
    found.user = user_name(facts.uids[0]);
    std::string name = read_text(folder + "/comm");
    if (name.ends_with('\n')) name.pop_back();
    found.name = segment::safe_text(name);
    std::string command = read_text(folder + "/cmdline", 1024);
    if (command.ends_with('\0')) command.pop_back();
    std::replace(command.begin(), command.end(), '\0', ' ');
    found.command = segment::safe_text(command);
    explain(folder, found);
    return found;
  }

 private:
  void explain(const std::string& folder, Untracked& found) const {
    const auto say = [&](std::string reason, std::string advice) {
      found.reason = std::move(reason);
      found.advice = std::move(advice);
    };
    const std::string start_again = "start it with `ttmem run -- CMD`";
    if (has_segment(found.pid)) {
      return say("its segment cannot be read",
                 fmt::format("run ttmem as {} or as root", found.user));
    }
    const auto environment = try_read_text(folder + "/environ", kMostEnvironment);
    const auto maps = try_read_text(folder + "/maps", kMostMaps);
    if (!environment || !maps) {
      return say(
          fmt::format("it belongs to {}, and only {} and root may see why", found.user, found.user),
          "run ttmem as root");
    }
    if (!has_runtime(*maps)) {
      found.may_hold = false;
      return say("no TT-Metal is loaded in it, so it allocates no memory there", "");
    }
    const std::string directory = evidence_.directory;
    if (same_directory(folder + "/root" + directory, directory) == false) {
      return say(fmt::format("it has another {} than this ttmem, as in a container", directory),
                 "run ttmem there, or start it with the host's IPC namespace (--ipc=host)");
    }
    if (const std::string other = variable(*environment, "TTMEM_DIR");
        !other.empty() && same_directory(folder + "/root" + other, directory) == false) {
      return say("its TTMEM_DIR is " + segment::safe_text(other),
                 "run `TTMEM_DIR=" + segment::safe_text(other) + " ttmem`");
    }
    if (variable(*environment, "TT_METAL_SHM_TRACKING_DISABLED") == "1") {
      return say("tracking is switched off (TT_METAL_SHM_TRACKING_DISABLED=1)", start_again);
    }
    say("its TT-Metal publishes nothing: it is older than 2026, or has opened no device yet",
        start_again);
  }

  // One that could not be read: the others are tracked.
  [[nodiscard]] bool has_segment(std::int32_t pid) const {
    return listing_ != nullptr && std::any_of(listing_->segments.begin(), listing_->segments.end(),
                                              [&](const std::string& name) {
                                                const auto parsed = parse_segment_name(name);
                                                return parsed && parsed->pid == pid;
                                              });
  }

  const Evidence& evidence_;
  const Listing* listing_;
};

}  // namespace

std::vector<Untracked> find_untracked(const Evidence& evidence, const Listing* listing,
                                      const std::vector<Untracked>& known) {
  std::set<std::int32_t> holders;
  for (const driver::Chip& chip : evidence.driver.chips) {
    holders.insert(chip.holders.begin(), chip.holders.end());
  }
  if (holders.empty()) return {};
  const std::set<std::int32_t> tracked = tracked_pids(evidence);
  const Reasoner reasoner(evidence, listing);
  std::vector<Untracked> found;
  for (const std::int32_t pid : holders) {
    if (tracked.contains(pid)) continue;
    if (pid == 0) {
      if (has_foreign_segment(evidence)) continue;
      found.push_back({.reason = "it is in another pid namespace, which cannot be seen from here",
                       .advice = "run ttmem on the host"});
      continue;
    }
    const std::optional<ProcessFacts> facts = process_facts(pid);
    if (!facts || facts->is_ending) continue;
    const auto same = std::find_if(known.begin(), known.end(), [&](const Untracked& before) {
      return before.pid == pid && before.start_time_ticks == facts->start_time_ticks;
    });
    // One that has just started may load TT-Metal, or set up its segment, later.
    found.push_back(same != known.end() && same->may_hold ? *same : reasoner.look_at(pid, *facts));
  }
  return found;
}

}  // namespace ttmem::collector
