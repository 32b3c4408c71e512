// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <utility>

namespace tt::tt_metal::dryrun {

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& worker : started_) worker->has_task.notify_one();
  }
  for (const auto& worker : started_) worker->thread.join();
}

void ThreadPool::start() {
  for (std::size_t i = 0; i < workers_; ++i) {
    started_.push_back(std::make_unique<Worker>());
    Worker& worker = *started_.back();
    worker.thread = std::thread([this, &worker] { work(worker); });
  }
}

void ThreadPool::enqueue(std::function<void()> task) {
  if (workers_ <= 1) {
    task();
    return;
  }
  std::lock_guard lock(mutex_);
  if (started_.empty()) start();
  Worker& worker = *started_[next_++ % workers_];
  worker.tasks.push_back(std::move(task));
  ++unfinished_;
  worker.has_task.notify_one();
}

void ThreadPool::work(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    worker.has_task.wait(lock, [&] { return stopping_ || !worker.tasks.empty(); });
    if (worker.tasks.empty()) return;
    auto task = std::move(worker.tasks.front());
    worker.tasks.pop_front();
    lock.unlock();
    std::exception_ptr thrown;
    try {
      task();
    } catch (...) {
      thrown = std::current_exception();
    }
    // Destroys the task before wait() returns, and with the task the objects that the task holds.
    task = nullptr;
    lock.lock();
    if (thrown && !exception_) exception_ = thrown;
    if (--unfinished_ == 0) all_done_.notify_all();
  }
}

void ThreadPool::wait() {
  std::unique_lock lock(mutex_);
  all_done_.wait(lock, [this] { return unfinished_ == 0; });
  next_ = 0;
  if (auto thrown = std::exchange(exception_, nullptr)) std::rethrow_exception(thrown);
}

}  // namespace tt::tt_metal::dryrun
