// SPDX-License-Identifier: Apache-2.0
#include "workload/replay/workers.hpp"

#include <exception>
#include <semaphore>
#include <thread>
#include <utility>

namespace ttmem::replay {

class Workers::Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  ~Worker() {
    job_ = nullptr;
    given_.release();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run(std::function<void()> job) {
    job_ = std::move(job);
    given_.release();
    done_.acquire();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  // The semaphores hand `job_` and `failure_` over and back: they have one owner at a time.
  void serve() {
    while (true) {
      given_.acquire();
      if (!job_) return;
      try {
        job_();
      } catch (...) {
        failure_ = std::current_exception();
      }
      done_.release();
    }
  }

  std::function<void()> job_;
  std::exception_ptr failure_;
  std::binary_semaphore given_{0};
  std::binary_semaphore done_{0};
  std::thread thread_;  // last: it uses the others
};

Workers::Workers() = default;
Workers::~Workers() = default;

void Workers::run(std::uint32_t number, std::function<void()> job) {
  std::unique_ptr<Worker>& worker = workers_[number];
  if (!worker) worker = std::make_unique<Worker>();
  worker->run(std::move(job));
}

}  // namespace ttmem::replay
