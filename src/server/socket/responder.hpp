// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/snapshot.hpp"
#include "wire/message.hpp"

namespace ttmem::server {

// Answers the questions of the wire protocol from the Snapshot of all processes, not only of those
// that use the socket. In this fixed format a figure that nobody knows is 0; `is_available` says
// whether anything is known of the device at all. One thread: that of the event loop.
class Responder {
 public:
  // Gives the Snapshot as of now.
  using Look = std::function<const model::Snapshot&()>;
  // In that of `at_figures` the allocations may be missing.
  Responder(Look at_all, Look at_figures)
      : look_at_all_(std::move(at_all)), look_at_figures_(std::move(at_figures)) {}

  // What was answered so far is out of date. Without it the next answer is of the same moment, so
  // that a thousand questions at once are not a thousand looks.
  void forget() { snapshot_ = nullptr; }

  // `question` is one of wire::is_question(), and `pid` the process that asks.
  [[nodiscard]] wire::Message answer(const wire::Message& question, pid_t pid);

 private:
  const model::Snapshot& snapshot(bool with_allocations);

  Look look_at_all_;
  Look look_at_figures_;
  const model::Snapshot* snapshot_ = nullptr;
  bool has_allocations_ = false;
};

// What DUMP_REMAINING and DUMP_KERNELS write into the log, line by line: who holds what on each
// device, and the largest of it.
[[nodiscard]] std::vector<std::string> remaining_lines(const model::Snapshot& snapshot);
[[nodiscard]] std::vector<std::string> kernel_lines(const model::Snapshot& snapshot);

}  // namespace ttmem::server
