// SPDX-License-Identifier: Apache-2.0
#include "server/observatory.hpp"

#include <spdlog/spdlog.h>

#include <string_view>
#include <utility>

namespace ttmem::server {
namespace {

constexpr std::size_t kMostWarnings = 256;

bool is_of_a_socket_client(std::string_view name) { return name.ends_with(".socket"); }

}  // namespace

Observatory::Observatory(std::string directory, ObservatoryOptions options)
    : directory_(std::move(directory)),
      options_(options),
      collector_(directory_),
      history_(options.history) {}

void Observatory::tick() {
  const auto begin = std::chrono::steady_clock::now();
  history_.record(collector_.collect_figures());
  totals_.add(collector_.evidence());
  const std::vector<std::string> names = suspects();
  if (names.empty()) {
    told_.clear();
  } else {
    bury(names);
  }
  ++passes_;
  pass_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Whose owner is gone, or who never became a segment.
std::vector<std::string> Observatory::suspects() const {
  std::vector<std::string> names;
  for (const collector::SegmentEvidence& segment : collector_.evidence().segments) {
    if (segment.state == model::State::dead) names.push_back(segment.origin.name);
  }
  for (const std::string& name : collector_.evidence().incomplete) names.push_back(name);
  std::erase_if(names, is_of_a_socket_client);
  return names;
}

void Observatory::bury(const std::vector<std::string>& names) {
  collector::DeadSegments dead = collector::find_dead(directory_, names);
  warn_once(dead.warnings);
  std::set<std::string> still_there;
  std::vector<Postmortem> fresh;
  for (const collector::DeadSegment& segment : dead.segments) {
    still_there.insert(segment.path);
    // What ended in good order held nothing, and a file that never was a segment had no process.
    if (told_.contains(segment.path) || segment.clean_exit || segment.name.empty()) continue;
    for (const std::string& line : postmortem_lines(segment)) spdlog::warn("{}", line);
    fresh.push_back({.found_unix_ns = collector_.evidence().time_unix_ns,
                     .removed = false,
                     .process = segment});
  }
  told_ = std::move(still_there);
  if (options_.reap) {
    const collector::ReapReport report = collector::reap(directory_, dead.segments);
    warn_once(report.warnings);
    if (report.removed == dead.segments.size()) {
      for (Postmortem& postmortem : fresh) postmortem.removed = true;
    }
  }
  for (Postmortem& postmortem : fresh) postmortems_.add(std::move(postmortem));
}

void Observatory::warn_once(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (warned_.size() >= kMostWarnings || !warned_.insert(warning).second) continue;
    spdlog::warn("{}", warning);
  }
}

const model::Snapshot& Observatory::snapshot() {
  const model::Snapshot& snapshot = collector_.collect();
  totals_.add(collector_.evidence());
  return snapshot;
}

void Observatory::add_figures(std::function<void(std::vector<views::ServerFigure>&)> figures) {
  figures_.push_back(std::move(figures));
}

std::string Observatory::metrics() {
  const model::Snapshot& snapshot = collector_.collect_figures();
  totals_.add(collector_.evidence());
  views::MetricsInput input;
  input.up = up();
  input.process_labels = options_.process_metrics;
  input.counters = totals_.devices();
  input.events_dropped = totals_.dropped();
  const auto gauge = [&](const char* name, const char* help, double value) {
    input.server.push_back(
        {.name = name, .help = help, .counter = false, .labels = {}, .value = value});
  };
  const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
    input.server.push_back({.name = name,
                            .help = help,
                            .counter = true,
                            .labels = {},
                            .value = static_cast<double>(value)});
  };
  gauge("ttmem_segments", "Segments that could be read, also of dead processes.",
        static_cast<double>(collector_.evidence().segments.size()));
  gauge("ttmem_warnings",
        "Warnings of the last pass: what could not be read, and why, is in the "
        "snapshot.",
        static_cast<double>(snapshot.warnings.size()));
  counter("ttmem_dead_processes_total", "Processes that ended without freeing what they held.",
          postmortems_.total());
  counter("ttmem_server_passes_total", "Passes of the server over all segments.", passes_);
  gauge("ttmem_server_pass_seconds", "How long the last of them took.", pass_seconds_);
  for (const auto& figures : figures_) figures(input.server);
  return views::prometheus_text(snapshot, input);
}

}  // namespace ttmem::server
