// SPDX-License-Identifier: Apache-2.0
//
// A recording that is played on the screen: the current time, the speed, and the effect of its
// keys. Times are nanoseconds since the begin of the recording. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ttmem::tui {

// The parts of a recording that stay the same while it plays.
struct Tape {
  struct Mark {
    std::int64_t time_ns = 0;
    std::string name{};
  };
  struct Gap {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t lost_events = 0;
  };
  struct Peak {
    std::int64_t time_ns = 0;
    std::string what{};  // "L1 of device 0"
  };
  std::string name;  // name of the file
  std::int64_t end_ns = 0;
  std::vector<Mark> marks;  // by time
  std::vector<Gap> gaps;    // by time
  std::vector<Peak> peaks;  // in the order in which the key P visits them
};

struct Player {
  std::shared_ptr<const Tape> tape{};  // never null
  std::int64_t now_ns = 0;
  double speed = 1;  // seconds of the recording per second

  [[nodiscard]] bool at_end() const { return now_ns >= tape->end_ns; }
  friend bool operator==(const Player&, const Player&) = default;
};

// Returns a player at the begin of the recording. The speed is 1, or slower so that a short
// recording takes at least twenty seconds.
[[nodiscard]] Player player_of(std::shared_ptr<const Tape> tape);

// Returns the player after `elapsed_ns` of real time. Stops at the end.
[[nodiscard]] Player played(Player player, std::int64_t elapsed_ns);

// Handles a character. Returns false if the player has no use for the character. Sets `message` to
// the target of a jump.
bool press(Player& player, char32_t character, std::string& message);

// Returns a time such as "1.250 s", in a unit that fits the length of the recording.
[[nodiscard]] std::string format_moment(std::int64_t time_ns, std::int64_t end_ns);
// Returns "2x", or for a very low speed "500 ns/s".
[[nodiscard]] std::string format_speed(double speed);
// Returns the last passed mark and its age, or the first mark ahead. Returns an empty text if there
// is no mark.
[[nodiscard]] std::string nearest_mark(const Player& player);
// Returns the number of events that the current or the previous gap lost. Returns an empty text if
// there is no gap.
[[nodiscard]] std::string gap_text(const Player& player);

}  // namespace ttmem::tui
