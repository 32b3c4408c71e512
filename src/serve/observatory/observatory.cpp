// SPDX-License-Identifier: Apache-2.0
#include "serve/observatory/observatory.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "read/collector/untracked_marks.hpp"
#include "text/format.hpp"

namespace ttmem::serve {
namespace {

constexpr std::size_t kMaxWarnings = 256;

}  // namespace

Observatory::Observatory(std::string directory, ObservatoryOptions options)
    : directory_(std::move(directory)),
      options_(options),
      collector_(directory_),
      history_(options.history) {}

void Observatory::tick() {
  const auto begin = std::chrono::steady_clock::now();
  history_.record(figures());
  const std::vector<std::string> names = dead_or_incomplete();
  if (names.empty()) {
    reported_.clear();
  } else {
    report_and_reap(names);
  }
  report_failed();
  if (options_.reap) {
    reap_failed();
    reap_marks();
  }
  ++passes_;
  pass_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Returns the names of segments whose owner is gone, and of files that never became segments. Omits
// the unfinished segment that a server is just creating for a client.
std::vector<std::string> Observatory::dead_or_incomplete() const {
  std::vector<std::string> names;
  for (const collector::SegmentEvidence& segment : collector_.evidence().segments) {
    if (segment.state == model::State::dead) names.push_back(segment.origin.name);
  }
  for (const std::string& name : collector_.evidence().incomplete) {
    if (!name.ends_with(".socket")) names.push_back(name);
  }
  return names;
}

void Observatory::report_and_reap(const std::vector<std::string>& names) {
  collector::DeadSegments dead = collector::find_dead(directory_, names);
  warn_once(dead.warnings);
  std::set<std::string> still_there;
  std::vector<Postmortem> fresh;
  for (const collector::DeadSegment& segment : dead.segments) {
    still_there.insert(segment.path);
    // Skips a segment after a clean exit, because its process held nothing. Skips a file without
    // the content of a segment, because the file names no process.
    if (reported_.contains(segment.path) || segment.clean_exit || !segment.readable) continue;
    for (const std::string& line : postmortem_lines(segment)) spdlog::warn("{}", line);
    fresh.push_back({.found_unix_ns = collector_.evidence().time_unix_ns,
                     .removed = false,
                     .process = segment});
  }
  reported_ = std::move(still_there);
  if (options_.reap) {
    const collector::ReapReport report = collector::reap(directory_, dead.segments);
    warn_once(report.warnings);
    if (report.removed == dead.segments.size()) {
      for (Postmortem& postmortem : fresh) postmortem.removed = true;
    }
  }
  for (Postmortem& postmortem : fresh) postmortems_.add(std::move(postmortem));
}

// Logs out-of-memory failures of processes. Reads each failure once, from the copy of the segment
// that was made at the failure.
void Observatory::report_failed() {
  const std::vector<std::string>& names = collector_.evidence().failed;
  std::erase_if(failed_, [&](const auto& known) {
    return std::find(names.begin(), names.end(), known.first) == names.end();
  });
  std::vector<std::string> fresh;
  std::copy_if(names.begin(), names.end(), std::back_inserter(fresh),
               [&](const std::string& name) { return !failed_.contains(name); });
  if (fresh.empty()) return;
  const collector::DeadSegments found = collector::find_dead(directory_, fresh);
  warn_once(found.warnings);
  for (const collector::DeadSegment& copy : found.segments) {
    failed_.emplace(copy.path.substr(directory_.size() + 1), collector_.evidence().time_unix_ns);
    if (!copy.failure) continue;
    spdlog::warn("[FAILED] [PID {}] {} of {}: {}",
                 text::format_pid(copy.pid, copy.pid_namespace.has_value(), {}), copy.name,
                 copy.user, *copy.failure);
  }
}

void Observatory::reap_failed() {
  std::vector<collector::DeadSegment> old;
  const std::uint64_t now = collector_.evidence().time_unix_ns;
  for (const auto& [name, seen_unix_ns] : failed_) {
    const std::chrono::nanoseconds age(now > seen_unix_ns ? now - seen_unix_ns : 0);
    if (age > options_.failed) old.emplace_back().path = directory_ + "/" + name;
  }
  if (!old.empty()) warn_once(collector::reap(directory_, old).warnings);
}

// Removes the marks of dead processes. Marks of unseen pid namespaces stay, because their processes
// may live.
void Observatory::reap_marks() {
  if (collector_.evidence().dead_marks == 0) return;
  std::vector<collector::UntrackedMark> marks = collector::find_dead_marks(directory_);
  std::erase_if(marks, [](const collector::UntrackedMark& mark) {
    return mark.process != collector::Owner::gone;
  });
  collector::NotTracked counts;
  for (const collector::UntrackedMark& mark : marks) collector::count(mark, counts);
  for (const std::string& sentence : collector::sentences(counts)) spdlog::warn("{}", sentence);
  collector::remove_marks(directory_, marks);
}

void Observatory::warn_once(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (warned_.size() >= kMaxWarnings || !warned_.insert(warning).second) continue;
    spdlog::warn("{}", warning);
  }
}

void Observatory::note_pass() {
  totals_.add(collector_.evidence());
  page_is_old_ = page_is_old_ || collector_.evidence().changed;
  if (collector_.evidence().changed) ++changes_;
}

const model::Snapshot& Observatory::snapshot() {
  const model::Snapshot& snapshot = collector_.collect();
  last_ = &snapshot;
  note_pass();
  return snapshot;
}

const model::Snapshot& Observatory::figures() {
  const model::Snapshot& snapshot = collector_.collect_figures();
  last_ = &snapshot;
  note_pass();
  return snapshot;
}

const model::Snapshot& Observatory::last() { return last_ != nullptr ? *last_ : figures(); }

void Observatory::add_figures(std::function<void(std::vector<views::ServerFigure>&)> figures) {
  more_figures_.push_back(std::move(figures));
}

std::string Observatory::metrics() {
  const model::Snapshot& snapshot = figures();
  if (page_is_old_) {
    views::MetricsInput input;
    input.up = up();
    input.process_labels = options_.process_metrics;
    input.counters = totals_.devices();
    input.events_dropped = totals_.dropped();
    page_ = views::prometheus_text(snapshot, input);
    page_is_old_ = false;
  }
  return page_ + views::prometheus_text(server_figures(snapshot.warnings.size()));
}

std::vector<views::ServerFigure> Observatory::server_figures(std::size_t warnings) const {
  std::vector<views::ServerFigure> list;
  const auto add = [&](const char* name, const char* help, double value) {
    const bool counter = std::string_view(name).ends_with("_total");
    list.push_back({.name = name, .help = help, .counter = counter, .labels = {}, .value = value});
  };
  const collector::Evidence& evidence = collector_.evidence();
  add("ttmem_segments", "Segments that could be read, also of dead processes.",
      static_cast<double>(evidence.segments.size()));
  add("ttmem_warnings", "Warnings of the last pass; /api/v1/snapshot has their text.",
      static_cast<double>(warnings));
  add("ttmem_dead_processes_total", "Processes that ended without freeing what they held.",
      static_cast<double>(postmortems_.total()));
  add("ttmem_server_passes_total", "Passes over all segments, one a second.",
      static_cast<double>(passes_));
  add("ttmem_server_pass_seconds", "How long the last pass took.", pass_seconds_);
  for (const auto& more : more_figures_) more(list);
  return list;
}

}  // namespace ttmem::serve
