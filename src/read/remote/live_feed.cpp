// SPDX-License-Identifier: Apache-2.0
#include "read/remote/live_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "read/remote/read_snapshot.hpp"

namespace ttmem::remote {

LiveFeed::LiveFeed(Address server, ClientOptions options, model::Snapshot first)
    : server_(std::move(server)),
      client_(std::move(options)),
      last_(std::make_shared<const model::Snapshot>(std::move(first))),
      latest_(last_),
      thread_([this] { run(); }) {}

LiveFeed::~LiveFeed() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  client_.stop();
  thread_.join();
}

void LiveFeed::want(Lists lists, std::chrono::milliseconds interval) {
  const std::lock_guard lock(mutex_);
  if (lists == wanted_ && interval == interval_) return;
  wanted_ = lists;
  interval_ = interval;
  changed_.notify_all();
}

std::shared_ptr<const model::Snapshot> LiveFeed::latest() {
  constexpr std::chrono::milliseconds kMoment{300};
  std::unique_lock lock(mutex_);
  if (wanted_ == Lists::all) {
    changed_.wait_for(lock, kMoment, [&] { return has_ == Lists::all; });
  }
  return latest_;
}

void LiveFeed::run() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    const Lists lists = wanted_;
    const auto begin = Clock::now();
    lock.unlock();
    auto now = ask(lists);
    lock.lock();
    latest_ = std::move(now);
    has_ = lists;
    changed_.notify_all();
    const auto pause = lists == Lists::all ? 30 * (Clock::now() - begin) : Clock::duration::zero();
    changed_.wait_until(lock, begin + std::max<Clock::duration>(interval_, pause),
                        [&] { return stops_ || wanted_ != lists; });
  }
}

std::shared_ptr<const model::Snapshot> LiveFeed::ask(Lists lists) try {
  const bool all = lists == Lists::all;
  // The question shares `answer`, because the question outlives this call if run() throws.
  const auto answer = std::make_shared<std::optional<Answer<std::string>>>();
  client_.get(server_, all ? "/api/v1/snapshot?lists=1" : mirror_.target(),
              all ? kMaxListBytes : kMaxFigureBytes,
              [answer](Answer<std::string> got) { answer->emplace(std::move(got)); });
  client_.run();
  if (!*answer) return last_;  // stop() was called
  const Answer<std::string>& got = **answer;
  if (got.failed) return without_answer(got.fault);
  if (all) {
    Answer<model::Snapshot> snapshot = read_snapshot(got.value);
    if (snapshot.failed) return without_answer(snapshot.fault);
    last_ = std::make_shared<const model::Snapshot>(std::move(snapshot.value));
  } else {
    if (const auto fault = mirror_.take(got.value)) return without_answer(*fault);
    last_ = std::make_shared<const model::Snapshot>(mirror_.snapshot());
  }
  return last_;
  // Catches an exception such as out of memory, because an exception that leaves a thread would end
  // the program.
} catch (const std::exception& error) {
  mirror_ = Mirror();  // cleared, because half of an answer may be in it
  return without_answer({Fault::Kind::failed, error.what(), "try again"});
}

std::shared_ptr<const model::Snapshot> LiveFeed::without_answer(const Fault& fault) try {
  model::Snapshot old = *last_;
  old.warnings.insert(
      old.warnings.begin(),
      fmt::format("{} does not answer, what is shown is old: {}", server_.url(), fault.reason));
  return std::make_shared<const model::Snapshot>(std::move(old));
} catch (const std::exception&) {  // no memory for the warning either
  return last_;
}

}  // namespace ttmem::remote
