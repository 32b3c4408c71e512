// SPDX-License-Identifier: Apache-2.0
#include "show/tui/terminal/top.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "read/model/device_name.hpp"
#include "show/tui/screen/detail_view.hpp"
#include "show/tui/terminal/settings.hpp"
#include "show/tui/terminal/terminal.hpp"

namespace ttmem::tui {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class Top {
 public:
  Top(const TopOptions& options, Terminal& terminal)
      : options_(options),
        terminal_(terminal),
        state_(options.start),
        setup_{terminal.display(), options.utc_offset_seconds},
        screen_(terminal.size()),
        history_(options.history) {}

  void run() {
    sample();
    while (!state_.quit) {
      if (state_.view == View::charts) ask_server();
      show();
      if (!wait()) return;
    }
  }

 private:
  void sample() {
    snapshot_ = &options_.collect(state_);
    if (!state_.player) history_.add(*snapshot_);
    sampled_ = Clock::now();
    next_ = sampled_ + interval();
  }

  // Returns the time between two frames. While a recording is played this time is constant, because
  // the keys + and - then change the speed and not the refresh interval.
  [[nodiscard]] milliseconds interval() const {
    constexpr milliseconds kFrame{100};
    return state_.player ? kFrame : milliseconds(state_.interval_ms);
  }

  // Advances the recording by the real time since the last frame times the speed of the player.
  // Pauses at the end.
  void play() {
    if (!state_.player) return;
    const auto elapsed = Clock::now() - sampled_;
    state_.player = played(*state_.player,
                           std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
    state_.paused = state_.player->at_end();
  }

  // Asks the server once per device for the history of the selected device. Shows where the history
  // is from.
  void ask_server() {
    if (!options_.history_of || snapshot_->devices.empty()) return;
    const model::Device& device = snapshot_->devices[selected_device(*snapshot_, state_)];
    if (!asked_.insert(model::name_of(device)).second) return;
    const EarlierSamples earlier = options_.history_of(model::name_of(device));
    history_.prepend(device, earlier.samples);
    if (std::exchange(origin_, earlier.origin) != earlier.origin) state_.message = earlier.origin;
  }

  void show() {
    screen_ = compose(*snapshot_, state_, history_, terminal_.size(), setup_);
    terminal_.paint(screen_.frame, state_.theme);
  }

  // Waits until the screen has to be drawn again. Returns false if the program should end.
  bool wait() {
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(next_ - Clock::now()).count();
      // Waits for at most a second. An event that came between two waits is then seen at most a
      // second late.
      const int time = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
      switch (terminal_.wait(state_.paused ? 1000 : time)) {
        case Terminal::Event::stop:
          return false;
        case Terminal::Event::input:
          press_keys();
          return true;
        case Terminal::Event::resized:
          return true;
        case Terminal::Event::nothing:
          break;
      }
      if (state_.paused || Clock::now() < next_) continue;
      play();
      sample();
      return true;
    }
  }

  void press_keys() {
    const std::uint32_t interval = state_.interval_ms;
    const bool was_paused = state_.paused;
    const std::optional<Player> before = state_.player;
    while (const std::optional<KeyPress> key = terminal_.read()) {
      state_ = handle(std::move(state_), *key, *snapshot_, screen_);
    }
    if (state_.player && (state_.player->now_ns != before->now_ns || was_paused)) sample();
    if (state_.interval_ms != interval) {
      next_ = std::min(next_, Clock::now() + milliseconds(state_.interval_ms));
    }
    if (const auto end = std::exchange(state_.end, std::nullopt)) send_signal(*end);
    if (!std::exchange(state_.save_settings, false)) return;
    const auto saved = save_settings(options_.settings_path, state_);
    state_.message = saved ? "settings saved in " + options_.settings_path : saved.error().message;
  }

  void send_signal(const EndProcess& end) {
    const Signal& signal = kSignals[end.signal];
    const bool sent = ::kill(end.pid, signal.number) == 0;
    state_.message = sent ? fmt::format("sent {} to process {}", signal.name, end.pid)
                          : fmt::format("cannot send {} to process {}: {}", signal.name, end.pid,
                                        std::generic_category().message(errno));
  }

  const TopOptions& options_;
  Terminal& terminal_;
  ViewState state_;
  Setup setup_;
  Screen screen_;
  const model::Snapshot* snapshot_ = nullptr;
  ChartHistory history_;
  std::set<model::DeviceName> asked_;
  std::string origin_;  // last EarlierSamples::origin that was shown
  Clock::time_point sampled_;
  Clock::time_point next_;
};

}  // namespace

Result<void> run_top(const TopOptions& options) {
  const Result<std::unique_ptr<Terminal>> terminal = Terminal::open(options.color, options.unicode);
  if (!terminal) return terminal.error();
  Top(options, **terminal).run();
  return {};
}

}  // namespace ttmem::tui
