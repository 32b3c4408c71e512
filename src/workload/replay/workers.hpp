// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace ttmem::replay {

// Threads by number, so that events of different threads are replayed on different threads. One job
// runs at a time, in the order of the calls. Used by one thread.
class Workers {
 public:
  Workers();
  ~Workers();  // ends and joins them
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs `job` on thread `number`, waits for its end, and throws what it throws. The thread is
  // started at the first use of its number; std::system_error when there is none to be had.
  void run(std::uint32_t number, std::function<void()> job);

  [[nodiscard]] std::size_t count() const { return workers_.size(); }

 private:
  class Worker;
  std::map<std::uint32_t, std::unique_ptr<Worker>> workers_;
};

}  // namespace ttmem::replay
