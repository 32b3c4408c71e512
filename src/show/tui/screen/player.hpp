// SPDX-License-Identifier: Apache-2.0
//
// A recording that is played on the screen: the current time, the speed, and the effect of the
// player's keys. Times are nanoseconds since the begin of the recording. Pure, safe from any
// thread.
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
    std::string what{};  // such as "L1 of device 0"
  };
  std::string name;  // name of the file
  std::int64_t end_ns = 0;
  std::vector<Mark> marks;  // in the order of time
  std::vector<Gap> gaps;    // in the order of time
  std::vector<Peak> peaks;  // in the order in which the key P visits them
};

struct Player {
  std::shared_ptr<const Tape> tape{};  // never null
  std::int64_t now_ns = 0;
  double speed = 1;  // seconds of the recording per second

  [[nodiscard]] bool at_end() const { return now_ns >= tape->end_ns; }
  friend bool operator==(const Player&, const Player&) = default;
};

// Returns a player at the begin of the recording. The speed is 1. A recording shorter than twenty
// seconds gets a lower speed, so that it plays for at least twenty seconds.
[[nodiscard]] Player player_of(std::shared_ptr<const Tape> tape);

// Returns the player after `elapsed_ns` of real time, at most at the end of the recording.
[[nodiscard]] Player played(Player player, std::int64_t elapsed_ns);

// Handles a character. Returns false if the character is not a key of the player. A jump to a mark
// or a peak sets `message` to the name of the mark or peak, or to the reason why there is none.
bool press(Player& player, char32_t character, std::string& message);

// Returns a time such as "1.250 s". The unit depends on the length of the recording.
[[nodiscard]] std::string format_moment(std::int64_t time_ns, std::int64_t end_ns);
// Returns the speed such as "2x". A very low speed is shown as "500 ns/s".
[[nodiscard]] std::string format_speed(double speed);
// Returns the name of the last mark before the current time, and the time since that mark. Before
// the first mark, returns the first mark and the time until that mark. Returns an empty text if the
// recording has no marks.
[[nodiscard]] std::string nearest_mark(const Player& player);
// Returns a text with a number of lost events. If the current time is in a gap, the text counts the
// events of that gap, otherwise the events of all earlier gaps. Returns an empty text if no events
// were lost.
[[nodiscard]] std::string gap_text(const Player& player);

}  // namespace ttmem::tui
