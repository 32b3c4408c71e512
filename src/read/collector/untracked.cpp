// SPDX-License-Identifier: Apache-2.0
#include "read/collector/untracked.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <set>
#include <utility>

#include "base/environment.hpp"
#include "base/format_ids.hpp"
#include "base/safe_text.hpp"
#include "base/shell_quote.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/process_look.hpp"

namespace ttmem::collector {
namespace {

using model::State;

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

std::set<std::int32_t> holders_in(const driver::Driver& driver) {
  std::set<std::int32_t> pids;
  for (const driver::Chip& chip : driver.chips) {
    pids.insert(chip.holders.begin(), chip.holders.end());
  }
  return pids;
}

// Returns true if a segment belongs to a living process of a pid namespace that this process cannot
// see. The driver lists such a process as pid 0, so pid 0 may stand for this tracked process.
bool has_foreign_segment(const Evidence& evidence) {
  return std::any_of(evidence.segments.begin(), evidence.segments.end(), [](const auto& segment) {
    return segment.state == State::alive && segment.foreign_pid && !segment.host_pid;
  });
}

// Returns false if the two paths certainly name different directories.
bool may_be_same(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  if (::stat(a.c_str(), &one) != 0 || ::stat(b.c_str(), &other) != 0) return true;
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Returns a path under /proc to the file that process `pid` finds at `path`. That process may have
// another root or current directory than this process.
std::string seen_by(std::int32_t pid, const std::string& path) {
  return fmt::format("/proc/{}/{}{}", pid, path.starts_with('/') ? "root" : "cwd/", path);
}

class Reasoner {
 public:
  Reasoner(const Evidence& evidence, const Listing* listing)
      : evidence_(evidence), listing_(listing) {}

  [[nodiscard]] Untracked look_at(std::int32_t pid, const ProcessFacts& facts) const {
    Untracked found;
    found.pid = pid;
    found.start_time_ticks = facts.start_time_ticks;
    found.user = user_name(facts.uids[0]);
    found.name = process_name(pid);
    found.command = process_command(pid);
    found.job = process_job(pid);
    explain(found);
    return found;
  }

 private:
  void explain(Untracked& found) const {
    const auto say = [&](std::string reason, std::string advice) {
      found.reason = std::move(reason);
      found.advice = std::move(advice);
    };
    const std::string start_again = "start it with `ttmem run -- CMD`";
    if (has_segment_file(found.pid)) {
      found.unreadable = true;
      return say("its segment cannot be read", "run ttmem as root");
    }
    const auto environment = process_environment(found.pid);
    const auto maps = process_maps(found.pid);
    if (!environment || !maps) {
      return say(fmt::format("it belongs to {}, so why is not seen", found.user),
                 "run ttmem as root");
    }
    if (!has_runtime(*maps)) {
      found.may_hold = false;
      return say("no TT-Metal is loaded in it, so it allocates no memory there", "");
    }
    const std::string& directory = evidence_.directory;
    if (has_deleted_segment(found.pid, directory)) {
      found.segment_deleted = true;
      return say("its segment was deleted", "start it again");
    }
    if (!may_be_same(seen_by(found.pid, directory), directory)) {
      return say(fmt::format("it has another {} than this ttmem, as in a container", directory),
                 "run ttmem there, or start it with the host's IPC namespace (--ipc=host)");
    }
    const std::string set = variable_in(*environment, "TTMEM_DIR");
    const std::string other = set.empty() ? "/dev/shm" : set;
    const bool tracked = variable_in(*environment, "TT_ALLOC_TRACKING_ENABLED") == "1";
    if ((tracked || !set.empty()) && !may_be_same(seen_by(found.pid, other), directory)) {
      const std::string shown = safe_text(other);
      return say("its TTMEM_DIR is " + shown,
                 fmt::format("run `TTMEM_DIR={} ttmem`", shell_quote(shown)));
    }
    if (tracked && variable_in(*environment, "TTMEM_TRANSPORT") == "socket") {
      return say("it reports to a server (TTMEM_TRANSPORT=socket) that does not answer",
                 "start `ttmem serve`");
    }
    if (variable_in(*environment, "TT_METAL_SHM_TRACKING_DISABLED") == "1") {
      return say("tracking is switched off (TT_METAL_SHM_TRACKING_DISABLED=1)", start_again);
    }
    const auto about_region = [](const std::string& sentence) {
      return sentence.find("/tt_device_") != std::string::npos;
    };
    if (std::any_of(evidence_.unread.begin(), evidence_.unread.end(), about_region)) {
      return say("what its TT-Metal publishes cannot be read", "see the other warnings");
    }
    say("its TT-Metal publishes nothing: it is older than 2026, or still starting", start_again);
  }

  // Returns true if the name of a segment contains this pid. The process is not tracked, so this
  // segment could not be read.
  [[nodiscard]] bool has_segment_file(std::int32_t pid) const {
    return listing_ != nullptr && std::any_of(listing_->segments.begin(), listing_->segments.end(),
                                              [&](const std::string& name) {
                                                const auto parsed = parse_segment_name(name);
                                                return parsed && parsed->pid == pid;
                                              });
  }

  const Evidence& evidence_;
  const Listing* listing_;
};

// Describes a process that the driver lists and /proc does not show.
Untracked hidden(std::int32_t pid) {
  Untracked found;
  found.pid = pid;
  const bool ended = ::kill(pid, 0) != 0 && errno == ESRCH;
  found.reason = ended ? "it has ended, and a process that it started has the chip"
                       : "/proc hides it (hidepid)";
  found.advice =
      ended ? "end that process, or start it with `ttmem run -- CMD`" : "run ttmem as root";
  return found;
}

}  // namespace

std::vector<Untracked> find_untracked(const Evidence& evidence, const Listing* listing,
                                      const std::vector<Untracked>& known) {
  const std::set<std::int32_t> holders = holders_in(evidence.driver);
  if (holders.empty()) return {};
  const std::set<std::int32_t> tracked = tracked_pids(evidence);
  const Reasoner reasoner(evidence, listing);
  std::vector<Untracked> found;
  std::optional<std::set<std::int32_t>> now;  // the holders, read a second time
  for (const std::int32_t pid : holders) {
    if (tracked.contains(pid)) continue;
    if (pid == 0) {
      if (has_foreign_segment(evidence)) continue;
      found.push_back({.reason = "it is in another pid namespace, which cannot be seen from here",
                       .advice = "run ttmem on the host"});
      continue;
    }
    const std::optional<ProcessFacts> facts = process_facts(pid);
    if (facts && facts->is_ending) continue;
    if (!facts) {
      // The holders are read again, because the process may have ended since the driver's files
      // were read.
      if (!now) now = holders_in(driver::read_driver(system_root()));
      if (now->contains(pid)) found.push_back(hidden(pid));
      continue;
    }
    const auto same = std::find_if(known.begin(), known.end(), [&](const Untracked& before) {
      return before.pid == pid && before.start_time_ticks == facts->start_time_ticks;
    });
    // A process without TT-Metal is inspected in every pass, because it may load TT-Metal later.
    found.push_back(same != known.end() && same->may_hold ? *same : reasoner.look_at(pid, *facts));
  }
  return found;
}

std::vector<std::string> untracked_warnings(const Evidence& evidence) {
  std::vector<std::string> warnings;
  for (const Untracked& process : evidence.untracked) {
    if (!process.may_hold || process.unreadable) continue;
    std::vector<std::uint32_t> chips;
    for (const driver::Chip& chip : evidence.driver.chips) {
      if (std::binary_search(chip.holders.begin(), chip.holders.end(), process.pid)) {
        chips.push_back(chip.number);
      }
    }
    const std::string who =
        process.pid == 0 ? "a process" : fmt::format("process {} ({})", process.pid, process.name);
    warnings.push_back(fmt::format("{} has device{} {} open and is not tracked: {}; {}", who,
                                   chips.size() == 1 ? "" : "s", format_ids(chips), process.reason,
                                   process.advice));
  }
  return warnings;
}

}  // namespace ttmem::collector
