// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "read/model/snapshot.hpp"
#include "track/wire/message.hpp"

namespace ttmem::serve {

// Answers the questions of the wire protocol from the snapshot of all processes, including
// processes that do not use the socket. In this fixed format an unknown figure is 0; `is_available`
// is 0 if the device is unknown. Used by one thread: the thread of the event loop.
class Responder {
 public:
  // A function that returns the present snapshot.
  using GetSnapshot = std::function<const model::Snapshot&()>;
  // `at_all` returns a snapshot with allocations. The snapshot of `at_figures` may lack them.
  Responder(GetSnapshot at_all, GetSnapshot at_figures)
      : get_all_(std::move(at_all)), get_figures_(std::move(at_figures)) {}

  // Makes the next answer use a new snapshot. Until forget() is called, all answers share one
  // snapshot, so that a thousand questions at once cost one pass.
  void forget() { snapshot_ = nullptr; }

  // `question` must satisfy wire::is_question(); `pid` is the process that asks.
  [[nodiscard]] wire::Message answer(const wire::Message& question, pid_t pid);

 private:
  const model::Snapshot& snapshot(bool with_allocations);

  GetSnapshot get_all_;
  GetSnapshot get_figures_;
  const model::Snapshot* snapshot_ = nullptr;
  bool has_allocations_ = false;
};

// Return the lines that DUMP_REMAINING and DUMP_KERNELS write into the log: the holders on each
// device, and the largest allocations.
[[nodiscard]] std::vector<std::string> remaining_lines(const model::Snapshot& snapshot);
[[nodiscard]] std::vector<std::string> kernel_lines(const model::Snapshot& snapshot);

}  // namespace ttmem::serve
