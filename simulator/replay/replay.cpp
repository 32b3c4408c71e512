// SPDX-License-Identifier: Apache-2.0
#include "simulator/replay/replay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/packaged_task.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <map>
#include <set>

#include "read/capture/capture.hpp"
#include "simulator/foreground/foreground.hpp"
#include "simulator/replay/feeder.hpp"

namespace ttmem::replay {
namespace {

using Clock = foreground::StopSignals::Clock;

constexpr std::size_t kMaxThreads = 256;
constexpr double kMaxDelay_ns = 1e18;  // thirty years; a larger value could overflow a time point

// Returns the time at which a line that was recorded at `t_ns` is due.
Clock::time_point due(Clock::time_point start, std::uint64_t t_ns, std::optional<double> speed) {
  if (!speed) return start;
  const double delay_ns = std::min(static_cast<double>(t_ns) / *speed, kMaxDelay_ns);
  return start + std::chrono::nanoseconds(static_cast<std::int64_t>(delay_ns));
}

std::size_t threads_of(const std::vector<capture::CaptureLine>& lines) {
  std::set<std::uint32_t> threads;
  for (const capture::CaptureLine& line : lines) {
    if (line.is_event()) threads.insert(line.thread);
  }
  return threads.size();
}

// Feeds the lines in order. Sets `interrupted` if a signal ends the replay early.
Replayed feed(const std::vector<capture::CaptureLine>& lines, std::optional<double> speed,
              foreground::StopSignals& signals, bool& interrupted) {
  Replayed replayed;
  Feeder feeder;
  std::map<std::uint32_t, boost::asio::thread_pool>
      threads;  // by thread number; each pool has one thread
  const Clock::time_point start = Clock::now();
  for (const capture::CaptureLine& line : lines) {
    interrupted = signals.came_before(due(start, line.t_ns, speed));
    if (interrupted) break;
    if (line.is_event()) {
      std::packaged_task<void()> job([&] { feeder.feed(line.entry); });
      boost::asio::thread_pool& thread = threads.try_emplace(line.thread, 1U).first->second;
      boost::asio::post(thread, std::move(job)).get();
      ++replayed.events;
    } else {
      feeder.feed(line.entry);
    }
    ++replayed.lines;
  }
  replayed.threads = threads.size();
  return replayed;
}

Result<Replayed> replay_checked(const ReplayOptions& options) {
  if (options.speed && !(*options.speed > 0)) {
    return Error{fmt::format("cannot replay at speed {}; give a number above 0, 1 is as recorded",
                             *options.speed)};
  }
  const auto lines = capture::read_capture(options.file, options.lines);
  if (!lines) return lines.error();
  if (const std::size_t threads = threads_of(*lines); threads > kMaxThreads) {
    return Error{
        fmt::format("{} has events of {} threads, ttmem replay runs at most {}; use --lines N",
                    capture::name_of_capture(options.file), threads, kMaxThreads)};
  }

  foreground::StopSignals signals;
  if (const auto tracking = foreground::start_tracking(); !tracking) return tracking.error();
  bool interrupted = false;
  Replayed replayed = feed(*lines, options.speed, signals, interrupted);
  replayed.source = capture::name_of_capture(options.file);
  if (options.hold && !interrupted) {
    foreground::announce(fmt::format("replay {}: {} lines replayed, holding their state",
                                     replayed.source, replayed.lines));
    signals.wait();
  }
  return replayed;
}

}  // namespace

Result<Replayed> replay_capture(const ReplayOptions& options) {
  try {
    return replay_checked(options);
  } catch (const std::exception& failure) {
    // Memory may have run out, or a thread could not be started.
    return Error{fmt::format("cannot replay {}: {}; free memory or threads and try again",
                             capture::name_of_capture(options.file), failure.what())};
  }
}

}  // namespace ttmem::replay
