// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "collector/collector.hpp"
#include "collector/event_totals.hpp"
#include "model/snapshot.hpp"
#include "server/observatory/history.hpp"
#include "server/observatory/postmortem.hpp"
#include "views/prometheus.hpp"

namespace ttmem::server {

struct ObservatoryOptions {
  bool reap = true;
  bool process_metrics = true;
  std::chrono::seconds history{86400};
};

// What the server knows of the whole machine: the Snapshot of all processes, how it came to that,
// and who died.
//
// One thread: that of the event loop.
class Observatory {
 public:
  explicit Observatory(std::string directory, ObservatoryOptions options = {});

  // Once a second: looks, remembers, and removes the segments of dead processes after it has logged
  // what they held. Segments named `*.socket` are left to whoever keeps them for socket clients.
  void tick();

  // As of now. Valid until the next call of a function of this class that is not const.
  [[nodiscard]] const model::Snapshot& snapshot();
  // The same for whoever wants sums: as Collector::collect_figures().
  [[nodiscard]] const model::Snapshot& figures();

  // The page of metrics, as of now.
  [[nodiscard]] std::string metrics();

  // Parts of the server have figures of their own for that page.
  void add_figures(std::function<void(std::vector<views::ServerFigure>&)> figures);

  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const Postmortems& postmortems() const { return postmortems_; }
  // Whether the last pass could look at the segments; true before the first.
  [[nodiscard]] bool up() const {
    return collector_.evidence().listed || collector_.evidence().directory.empty();
  }

 private:
  void note_pass();
  [[nodiscard]] std::vector<views::ServerFigure> server_figures() const;
  [[nodiscard]] std::vector<std::string> suspects() const;
  void bury(const std::vector<std::string>& names);
  void warn_once(const std::vector<std::string>& warnings);

  std::string directory_;
  ObservatoryOptions options_;
  collector::Collector collector_;
  collector::EventTotals totals_;
  History history_;
  Postmortems postmortems_;
  std::set<std::string> told_;    // paths of the dead that are still there
  std::set<std::string> warned_;  // at most a few hundred
  std::vector<std::function<void(std::vector<views::ServerFigure>&)>> more_figures_;
  std::string page_;  // of metrics, without the figures of the server
  bool page_is_old_ = true;
  std::uint64_t passes_ = 0;
  double pass_seconds_ = 0;  // the last one
};

}  // namespace ttmem::server
