// SPDX-License-Identifier: Apache-2.0
//
// Checks the tracked processes, and finds processes that should be tracked but are not.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "base/parse_number.hpp"
#include "base/plural.hpp"
#include "cli/doctor/scene.hpp"
#include "read/collector/process_look.hpp"

namespace ttmem::doctor {
namespace {

namespace fs = std::filesystem;
using model::State;

std::string who(std::int32_t pid, const std::string& name) {
  return fmt::format("process {} ({})", pid, name);
}

void check_segments(const Scene& scene, Findings& findings) {
  const collector::Evidence& evidence = scene.evidence;
  const auto living = static_cast<std::size_t>(
      std::count_if(evidence.segments.begin(), evidence.segments.end(),
                    [](const auto& segment) { return segment.state == State::alive; }));
  const std::size_t dead = evidence.segments.size() - living;
  const std::string found = living == 0
                                ? "no process is tracked right now"
                                : plural(living, "process is tracked", "processes are tracked");
  if (living > 0) {
    findings.good("segments", found);
  } else {
    findings.note("segments", found, "try `ttmem demo`, or `ttmem run -- CMD`");
  }
  if (dead > 0) {
    findings.note("segments", plural(dead, "is of a dead process", "are of dead processes"),
                  "`ttmem clean` removes them");
  }
  if (evidence.dead_marks > 0) {
    findings.warning("segments",
                     plural(evidence.dead_marks, "process that has ended was",
                            "processes that have ended were") +
                         " not tracked, for lack of room",
                     "`ttmem clean` says why; free space in " + evidence.directory);
  }
  if (!evidence.regions.empty()) {
    findings.good("own statistics",
                  "TT-Metal writes its own of " + plural(evidence.regions.size(), "chip", "chips"));
  }
  for (const std::string& sentence : evidence.unread) {
    const std::size_t semicolon = sentence.find("; ");
    const std::string found_so = sentence.substr(0, semicolon);
    const std::string advice = semicolon == std::string::npos ? "" : sentence.substr(semicolon + 2);
    // Only warns about unreadable files of other users, because the user's own processes can still
    // be measured.
    if (found_so.ends_with("permission denied")) {
      findings.warning("segments", found_so, advice);
    } else {
      findings.failure("segments", found_so, advice);
    }
  }
  for (const auto& segment : evidence.segments) {
    if (segment.state != State::alive) continue;
    for (const std::string& text : segment.image.not_seen) {
      findings.warning("adapter", who(segment.image.pid, segment.image.name) + ": " + text,
                       "update ttmem, or TT-Metal");
    }
  }
}

void check_untracked(const Scene& scene, Findings& findings) {
  for (const collector::Untracked& process : scene.evidence.untracked) {
    if (process.unreadable || process.segment_deleted) continue;  // reported with the segments
    const std::string name = process.pid == 0 ? "a process" : who(process.pid, process.name);
    if (process.may_hold) {
      findings.failure("not tracked", name + ": " + process.reason, process.advice);
    } else {
      findings.note("not tracked", name + ": " + process.reason);
    }
  }
}

void check_both_trackers(const Scene& scene, Findings& findings) {
  std::set<std::int32_t> ours;
  for (const auto& segment : scene.evidence.segments) {
    if (segment.state == State::alive && segment.confirmed) ours.insert(segment.image.pid);
  }
  std::set<std::int32_t> both;
  for (const auto& region : scene.evidence.regions) {
    for (const auto& row : region.rows) {
      if (row.state == State::alive && ours.contains(row.row.pid)) both.insert(row.row.pid);
    }
  }
  if (both.empty()) return;
  findings.warning("own tracker",
                   fmt::format("TT-Metal's own tracker, which is slow, is on beside ttmem in {} {}",
                               both.size() == 1 ? "process" : "processes", fmt::join(both, ", ")),
                   "start with `ttmem run -- CMD`, or set TT_METAL_SHM_TRACKING_DISABLED=1");
}

// A process that has loaded a library of ttmem. Root finds such processes of all users; other users
// find only their own.
struct Looked {
  std::int32_t pid = 0;
  std::string name;
  bool deleted_segment = false;  // true: its segment was deleted, so no reader finds it
  bool preloaded = false;        // true: the stub is loaded, and TTMEM_ADAPTER is set
  bool has_runtime = false;
};

std::vector<Looked> look_at_processes(const std::string& directory) {
  std::vector<Looked> found;
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const auto pid = parse_number<std::int32_t>(it->path().filename().string());
    if (!pid) continue;
    const std::string maps = collector::process_maps(*pid).value_or("");
    if (!collector::has_file(maps, "libttmem")) continue;
    Looked process;
    process.pid = *pid;
    process.deleted_segment = collector::has_deleted_segment(*pid, directory);
    process.has_runtime = collector::has_runtime(maps);
    const std::string environment = collector::process_environment(*pid).value_or("");
    process.preloaded = collector::has_file(maps, "libttmem_preload") &&
                        !collector::variable_in(environment, "TTMEM_ADAPTER").empty();
    process.name = collector::process_name(*pid);
    found.push_back(std::move(process));
  }
  return found;
}

void check_lost_processes(const Scene& scene, Findings& findings) {
  for (const Looked& process : look_at_processes(scene.evidence.directory)) {
    const bool has_segment = std::any_of(
        scene.evidence.segments.begin(), scene.evidence.segments.end(), [&](const auto& segment) {
          return segment.state == State::alive &&
                 segment.host_pid.value_or(segment.image.pid) == process.pid;
        });
    if (process.deleted_segment) {
      findings.failure("segments",
                       who(process.pid, process.name) +
                           ": its segment was deleted while it lives, so that it is not seen",
                       "start it again; `ttmem clean` removes only those of the dead");
    } else if (process.preloaded && process.has_runtime && !has_segment) {
      findings.failure("adapter",
                       who(process.pid, process.name) +
                           ": the adapter is preloaded, and nothing was heard from it",
                       "wait until it opens a device; else `ttmem adapter build`");
    }
  }
}

}  // namespace

void check_processes(const Scene& scene, Findings& findings) {
  check_segments(scene, findings);
  check_lost_processes(scene, findings);
  check_untracked(scene, findings);
  check_both_trackers(scene, findings);
}

}  // namespace ttmem::doctor
