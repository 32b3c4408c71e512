// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ttmem::tui {
namespace {

constexpr double kSlowest = 1e-9;  // one nanosecond of the recording per second
constexpr double kFastest = 1e6;

// Returns the next faster or slower speed in the series 1, 2, 5, 10, 20, 50 and so on.
double next_speed(double speed, bool up) {
  const double power = std::pow(10, std::floor(std::log10(speed) + 1e-9));
  const int digit = static_cast<int>(std::lround(speed / power));
  const double next = up ? (digit == 1   ? 2
                            : digit == 2 ? 5
                                         : 10) *
                               power
                         : (digit == 5   ? 2
                            : digit == 2 ? 1
                                         : 0.5) *
                               power;
  return std::clamp(next, kSlowest, kFastest);
}

void seek(Player& player, std::int64_t time_ns) {
  player.now_ns = std::clamp<std::int64_t>(time_ns, 0, player.tape->end_ns);
}

// Moves by 1/`parts` of the recording, at least by a nanosecond. A negative `parts` moves back.
void step(Player& player, std::int64_t parts) {
  const std::int64_t part = std::max<std::int64_t>(player.tape->end_ns / std::abs(parts), 1);
  seek(player, player.now_ns + (parts < 0 ? -part : part));
}

void next_mark(Player& player, std::string& message) {
  for (const Tape::Mark& mark : player.tape->marks) {
    if (mark.time_ns <= player.now_ns) continue;
    seek(player, mark.time_ns);
    message = "mark: " + mark.name;
    return;
  }
  message = player.tape->marks.empty() ? "the recording has no marks" : "there is no later mark";
}

void previous_mark(Player& player, std::string& message) {
  const auto& marks = player.tape->marks;
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    if (mark->time_ns >= player.now_ns) continue;
    seek(player, mark->time_ns);
    message = "mark: " + mark->name;
    return;
  }
  message = marks.empty() ? "the recording has no marks" : "there is no earlier mark";
}

// If the current time is at a peak, moves to the next peak in `peaks`. Otherwise, and after the
// last peak, moves to the first peak.
void next_peak(Player& player, std::string& message) {
  const auto& peaks = player.tape->peaks;
  if (peaks.empty()) {
    message = "the recording has no peak: nothing was allocated";
    return;
  }
  const auto is_here = [&](const Tape::Peak& peak) { return peak.time_ns == player.now_ns; };
  // If several peaks are at the current time, continues after the last of these peaks.
  const auto here = std::find_if(peaks.rbegin(), peaks.rend(), is_here);
  const auto next = here == peaks.rend() || here == peaks.rbegin() ? peaks.begin() : here.base();
  seek(player, next->time_ns);
  message = "peak: " + next->what;
}

}  // namespace

Player player_of(std::shared_ptr<const Tape> tape) {
  constexpr double kLeastSeconds = 20;
  Player player{std::move(tape)};
  const double seconds = static_cast<double>(player.tape->end_ns) / 1e9;
  while (player.speed > kSlowest && seconds / player.speed < kLeastSeconds) {
    player.speed = next_speed(player.speed, false);
  }
  return player;
}

Player played(Player player, std::int64_t elapsed_ns) {
  const double step = static_cast<double>(elapsed_ns) * player.speed;
  const auto left = static_cast<double>(player.tape->end_ns - player.now_ns);
  seek(player, step >= left ? player.tape->end_ns
                            : player.now_ns + static_cast<std::int64_t>(std::llround(step)));
  return player;
}

bool press(Player& player, char32_t character, std::string& message) {
  switch (character) {
    case U'+':
    case U'=':
    case U'-':
      player.speed = next_speed(player.speed, character != U'-');
      return true;
    case U'f':
      step(player, 100);
      return true;
    case U'b':
      step(player, -100);
      return true;
    case U'F':
      step(player, 10);
      return true;
    case U'B':
      step(player, -10);
      return true;
    case U'g':
      seek(player, 0);
      return true;
    case U'G':
      seek(player, player.tape->end_ns);
      return true;
    case U'n':
      next_mark(player, message);
      return true;
    case U'N':
      previous_mark(player, message);
      return true;
    case U'P':
      next_peak(player, message);
      return true;
    default:
      return false;
  }
}

std::string format_moment(std::int64_t time_ns, std::int64_t end_ns) {
  const auto time = static_cast<double>(time_ns);
  if (end_ns < 10'000) return fmt::format("{} ns", time_ns);
  if (end_ns < 2'000'000) return fmt::format("{:.3f} us", time / 1e3);
  if (end_ns < 2'000'000'000) return fmt::format("{:.3f} ms", time / 1e6);
  if (end_ns < 600'000'000'000) return fmt::format("{:.3f} s", time / 1e9);
  const std::int64_t seconds = time_ns / 1'000'000'000;
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string format_speed(double speed) {
  if (speed >= 0.001) return fmt::format("{:g}x", speed);
  return speed >= 1e-6 ? fmt::format("{:g} us/s", speed * 1e6)
                       : fmt::format("{:g} ns/s", std::round(speed * 1e9));
}

std::string nearest_mark(const Player& player) {
  const auto& marks = player.tape->marks;
  if (marks.empty()) return {};
  const auto later =
      std::upper_bound(marks.begin(), marks.end(), player.now_ns,
                       [](std::int64_t now, const Tape::Mark& mark) { return now < mark.time_ns; });
  const Tape::Mark& mark = later == marks.begin() ? *later : *(later - 1);
  const std::int64_t since = player.now_ns - mark.time_ns;
  if (since == 0) return mark.name;
  return fmt::format("{} {}{}", mark.name, since > 0 ? "+" : "-",
                     format_moment(std::abs(since), player.tape->end_ns));
}

std::string gap_text(const Player& player) {
  std::uint64_t before = 0;
  for (const Tape::Gap& gap : player.tape->gaps) {
    if (gap.begin_ns > player.now_ns) break;
    if (player.now_ns < gap.end_ns) {
      return fmt::format("gap: {} lost", gap.lost_events);
    }
    before += gap.lost_events;
  }
  return before == 0 ? std::string() : fmt::format("{} lost before", before);
}

}  // namespace ttmem::tui
