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
  // Time for which the segment copy of a failed process is kept, for users who ask why the process
  // failed.
  std::chrono::seconds failed{3600};
};

// The state of the whole machine as the server knows it: the snapshot of all processes, its
// history, and the dead processes.
//
// Used by one thread: the thread of the event loop.
class Observatory : public ObservedMachine {
 public:
  explicit Observatory(std::string directory, ObservatoryOptions options = {});

  // To be called once a second. Makes a pass, records the snapshot, logs what dead processes held,
  // and reaps their segments. A client of the socket counts as dead as soon as the server leaves
  // its segment as evidence.
  void tick();

  [[nodiscard]] const model::Snapshot& snapshot() override;
  // Returns the present snapshot for callers that need only sums. See Collector::collect_figures().
  [[nodiscard]] const model::Snapshot& figures();

  // Returns the snapshot of the last pass. Makes a pass only if there was none.
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
  std::set<std::string> reported_;  // paths of dead segments that were reported and still exist
  // Unix time in nanoseconds at which this server first saw a segment copy of a failed process, by
  // file name.
  std::map<std::string, std::uint64_t> failed_;
  std::set<std::string> warned_;  // warnings already logged, at most a few hundred
  std::vector<std::function<void(std::vector<views::ServerFigure>&)>> more_figures_;
  std::string page_;  // metrics page without the server's own figures
  bool page_is_old_ = true;
  const model::Snapshot* last_ = nullptr;  // the last snapshot, which the collector owns
  std::uint64_t changes_ = 0;
  std::uint64_t passes_ = 0;
  double pass_seconds_ = 0;  // duration of the last pass in seconds
};

}  // namespace ttmem::serve
