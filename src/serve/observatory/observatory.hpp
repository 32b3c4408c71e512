// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "read/collector/collector.hpp"
#include "read/collector/event_totals.hpp"
#include "read/model/snapshot.hpp"
#include "serve/observatory/history.hpp"
#include "serve/observatory/observed_machine.hpp"
#include "serve/observatory/postmortem.hpp"
#include "show/views/prometheus.hpp"

namespace ttmem::serve {

struct ObservatoryOptions {
  bool reap = true;
  bool process_metrics = true;
  std::chrono::seconds history{86400};
  // The copy of a failure is for somebody who asks why: it stays for so long.
  std::chrono::seconds failed{3600};
};

// What the server knows of the whole machine: the Snapshot of all processes, its history, and who
// died.
//
// One thread: that of the event loop.
class Observatory : public ObservedMachine {
 public:
  explicit Observatory(std::string directory, ObservatoryOptions options = {});

  // Call once a second: makes a pass, records it, and reaps dead processes after logging what they
  // held. Clients of a socket are among them once their server has left the segment as evidence.
  void tick();

  [[nodiscard]] const model::Snapshot& snapshot() override;
  // The same for callers that need sums only: Collector::collect_figures().
  [[nodiscard]] const model::Snapshot& figures();

  // Costs nothing, however often it is called.
  [[nodiscard]] const model::Snapshot& last() override;
  [[nodiscard]] std::uint64_t changes() const override { return changes_; }
  [[nodiscard]] std::string metrics() override;
  // Adds figures of a part of the server to the page for Prometheus.
  void add_figures(std::function<void(std::vector<views::ServerFigure>&)> figures);

  [[nodiscard]] const History& history() const override { return history_; }
  [[nodiscard]] const Postmortems& postmortems() const override { return postmortems_; }
  [[nodiscard]] bool up() const override {
    return collector_.evidence().listed || collector_.evidence().directory.empty();
  }

 private:
  void note_pass();
  [[nodiscard]] std::vector<views::ServerFigure> server_figures(std::size_t warnings) const;
  [[nodiscard]] std::vector<std::string> dead_or_incomplete() const;
  void report_and_reap(const std::vector<std::string>& names);
  void report_failed();
  void reap_failed();
  void reap_marks();
  void warn_once(const std::vector<std::string>& warnings);

  std::string directory_;
  ObservatoryOptions options_;
  collector::Collector collector_;
  collector::EventTotals totals_;
  History history_;
  Postmortems postmortems_;
  std::set<std::string> reported_;  // paths of dead segments that are still there
  // Names of copies that failed processes left, and when they were first seen.
  std::map<std::string, std::uint64_t> failed_;
  std::set<std::string> warned_;  // at most a few hundred
  std::vector<std::function<void(std::vector<views::ServerFigure>&)>> more_figures_;
  std::string page_;  // of metrics, without the figures of the server
  bool page_is_old_ = true;
  const model::Snapshot* last_ = nullptr;  // the collector's own
  std::uint64_t changes_ = 0;
  std::uint64_t passes_ = 0;
  double pass_seconds_ = 0;  // the last one
};

}  // namespace ttmem::serve
