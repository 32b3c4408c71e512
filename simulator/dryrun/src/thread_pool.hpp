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

// The worker threads of a mesh. The workers take tasks in round-robin order. The first task starts
// the threads of all workers. A pool of one worker has no thread, and runs tasks on the calling
// thread.
//
// Any thread may enqueue and wait. wait() returns when all tasks that were enqueued before the call
// are done. If tasks threw exceptions, wait() throws the first of them.
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
  std::mutex mutex_;  // guards the members below
  std::condition_variable all_done_;
  std::vector<std::unique_ptr<Worker>> started_;
  std::size_t next_ = 0;
  std::size_t unfinished_ = 0;
  bool stopping_ = false;
  std::exception_ptr exception_;
};

}  // namespace tt::tt_metal::dryrun
