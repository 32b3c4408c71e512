// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tt::tt_metal::dryrun {

// The worker threads of a mesh. Tasks go to the workers in turn; the threads start with the first
// task. A pool of one worker has no thread, and runs tasks where they are enqueued.
//
// Enqueueing and waiting may happen on any thread. wait() returns when every task enqueued before
// it is done, and throws the first exception that one of them threw.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t workers) : workers_(workers) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void enqueue(std::function<void()> task);
  void wait();

 private:
  struct Worker {
    std::deque<std::function<void()>> tasks;
    std::condition_variable has_task;
    std::thread thread;
  };

  void start();
  void work(Worker& worker);

  const std::size_t workers_;
  std::mutex mutex_;  // the members below
  std::condition_variable all_done_;
  std::vector<std::unique_ptr<Worker>> started_;
  std::size_t next_ = 0;
  std::size_t unfinished_ = 0;
  bool stopping_ = false;
  std::exception_ptr exception_;
};

}  // namespace tt::tt_metal::dryrun
