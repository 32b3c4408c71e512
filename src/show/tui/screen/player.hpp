// SPDX-License-Identifier: Apache-2.0
//
// A recording that is played on the screen: where it is, how fast it goes, and what its keys do.
// Times are nanoseconds since it began. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ttmem::tui {

// What does not change while it plays.
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
  std::string name;  // of the file
  std::int64_t end_ns = 0;
  std::vector<Mark> marks;  // by time
  std::vector<Gap> gaps;    // by time
  std::vector<Peak> peaks;  // the most interesting first
};

struct Player {
  std::shared_ptr<const Tape> tape{};  // never null
  std::int64_t now_ns = 0;
  double speed = 1;  // seconds of the recording in a second

  [[nodiscard]] bool at_end() const { return now_ns >= tape->end_ns; }
  friend bool operator==(const Player&, const Player&) = default;
};

// At its beginning, with a speed at which a short one lasts long enough to be seen: at least twenty
// seconds, or as it was.
[[nodiscard]] Player player_of(std::shared_ptr<const Tape> tape);

// After so much time in front of the screen. Stops at the end.
[[nodiscard]] Player played(Player player, std::int64_t elapsed_ns);

// Does what this character is for; false when it is not for the player. `message` says where a jump
// led to.
bool press(Player& player, char32_t character, std::string& message);

// "1.250 s", in a unit that fits the length of the recording.
[[nodiscard]] std::string format_moment(std::int64_t time_ns, std::int64_t end_ns);
// "2x", and for what is very slow "500 ns/s".
[[nodiscard]] std::string format_speed(double speed);
// The last mark that was passed and how long ago, else the first one to come; empty: there is none.
[[nodiscard]] std::string nearest_mark(const Player& player);
// How many events were lost in the gap that it is in, or before; empty: none.
[[nodiscard]] std::string gap_text(const Player& player);

}  // namespace ttmem::tui
