// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/player.hpp"
#include "support/tui_fixtures.hpp"

namespace ttmem::tui {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Simulates a user who watches fixtures::tape(), a recording of one minute.
class Watched {
 public:
  Watched& type(std::u32string_view characters) {
    for (const char32_t c : characters) {
      const Screen screen = compose(snapshot_, state, {}, {100, 30}, {});
      const KeyPress key{.code = KeyPress::Code::character, .character = c};
      state = handle(std::move(state), key, snapshot_, screen);
    }
    return *this;
  }
  [[nodiscard]] double seconds() const {
    return static_cast<double>(state.player->now_ns) / static_cast<double>(kSecondNs);
  }

  ViewState state{.player = player_of(fixtures::tape())};

 private:
  model::Snapshot snapshot_ = fixtures::machine(1);
};

TEST(Player, KeysSeekAndStopAtTheEnds) {
  Watched watched;
  EXPECT_EQ(watched.type(U"b").seconds(), 0);
  EXPECT_DOUBLE_EQ(watched.type(U"f").seconds(), 0.6);
  EXPECT_DOUBLE_EQ(watched.type(U"FF").seconds(), 12.6);
  EXPECT_DOUBLE_EQ(watched.type(U"Bb").seconds(), 6);
  EXPECT_EQ(watched.type(U"Gf").seconds(), 60);
  EXPECT_EQ(watched.type(U"g").seconds(), 0);
}

TEST(Player, KeysJumpToMarks) {
  Watched watched;
  EXPECT_EQ(watched.type(U"n").seconds(), 15);
  EXPECT_EQ(watched.state.message, "mark: iteration 1");
  EXPECT_EQ(watched.type(U"n").seconds(), 40);
  EXPECT_EQ(watched.type(U"n").seconds(), 40);
  EXPECT_EQ(watched.state.message, "there is no later mark");
  EXPECT_EQ(watched.type(U"N").seconds(), 15);
  EXPECT_EQ(watched.type(U"fN").seconds(), 15);
  EXPECT_EQ(watched.type(U"N").state.message, "there is no earlier mark");
}

TEST(Player, KeysJumpFromPeakToPeak) {
  Watched watched;
  EXPECT_EQ(watched.type(U"P").seconds(), 30);
  EXPECT_EQ(watched.state.message, "peak: L1 of device 0");
  EXPECT_EQ(watched.type(U"P").seconds(), 50);
  EXPECT_EQ(watched.type(U"P").seconds(), 30);
  EXPECT_EQ(watched.type(U"fP").seconds(), 30);
}

TEST(Player, PeaksAtOneMomentCountAsOneJump) {
  auto tape = std::make_shared<Tape>();
  tape->end_ns = 100;
  tape->peaks = {{5, "a"}, {5, "b"}, {9, "c"}};
  Player player = player_of(tape);
  std::string message;
  for (const std::int64_t expected : {5, 9, 5}) {
    EXPECT_TRUE(press(player, U'P', message));
    EXPECT_EQ(player.now_ns, expected);
  }
}

TEST(Player, PlusAndMinusChangeTheSpeedInsteadOfTheRate) {
  Watched watched;
  const std::uint32_t interval = watched.state.interval_ms;
  EXPECT_DOUBLE_EQ(watched.type(U"+").state.player->speed, 2);
  EXPECT_DOUBLE_EQ(watched.type(U"+++").state.player->speed, 20);
  EXPECT_DOUBLE_EQ(watched.type(U"-----").state.player->speed, 0.5);
  EXPECT_EQ(watched.state.interval_ms, interval);
  for (int i = 0; i < 100; ++i) watched.type(U"+");
  EXPECT_DOUBLE_EQ(watched.state.player->speed, 1e6);
  for (int i = 0; i < 100; ++i) watched.type(U"-");
  EXPECT_DOUBLE_EQ(watched.state.player->speed, 1e-9);
}

TEST(Player, SpacePausesAndStartsAgainAtTheEnd) {
  Watched watched;
  EXPECT_TRUE(watched.type(U" ").state.paused);
  EXPECT_FALSE(watched.type(U"Fp").state.paused);
  EXPECT_EQ(watched.seconds(), 6);
  watched.type(U"G");
  watched.state.paused = true;  // the player pauses at the end of the recording
  EXPECT_FALSE(watched.type(U" ").state.paused);
  EXPECT_EQ(watched.seconds(), 0);
}

TEST(Player, ProcessesOfARecordingCannotBeSignalled) {
  Watched watched;
  watched.type(U"4K");
  EXPECT_FALSE(watched.state.asks_to_end);
  EXPECT_NE(watched.state.message.find("recording"), std::string::npos);
}

TEST(Player, PlaysAtTheChosenSpeedUpToTheEnd) {
  Player player = player_of(fixtures::tape());
  EXPECT_EQ(player.speed, 1);
  player = played(player, 2 * kSecondNs);
  EXPECT_EQ(player.now_ns, 2 * kSecondNs);
  player.speed = 1e6;
  player = played(player, 2 * kSecondNs);
  EXPECT_TRUE(player.at_end());
}

TEST(Player, AShortRecordingIsSlowEnoughToBeSeen) {
  for (const std::int64_t end_ns : {0LL, 1LL, 500LL, 140'000'000LL, 30'000'000'000LL}) {
    auto tape = std::make_shared<Tape>();
    tape->end_ns = end_ns;
    const Player player = player_of(tape);
    EXPECT_LE(player.speed, 1);
    if (end_ns >= 20) {
      EXPECT_GE(static_cast<double>(end_ns) / 1e9 / player.speed, 20) << end_ns;
    }
  }
}

TEST(Player, ShowsTimesAndSpeedsInSuitableUnits) {
  EXPECT_EQ(format_moment(3, 500), "3 ns");
  EXPECT_EQ(format_moment(1'500, 20'000), "1.500 us");
  EXPECT_EQ(format_moment(1'500'000, 20'000'000), "1.500 ms");
  EXPECT_EQ(format_moment(1'500'000'000, 60 * kSecondNs), "1.500 s");
  EXPECT_EQ(format_moment(3'725 * kSecondNs, 7'200 * kSecondNs), "1:02:05");
  EXPECT_EQ(format_speed(2), "2x");
  EXPECT_EQ(format_speed(0.005), "0.005x");
  EXPECT_EQ(format_speed(0.0005), "500 us/s");
  EXPECT_EQ(format_speed(2e-8), "20 ns/s");
}

TEST(Player, NamesTheNearestMarkAndTheLostEvents) {
  Player player = player_of(fixtures::tape());
  EXPECT_EQ(nearest_mark(player), "iteration 1 -15.000 s");
  EXPECT_EQ(gap_text(player), "");
  player.now_ns = 15 * kSecondNs;
  EXPECT_EQ(nearest_mark(player), "iteration 1");
  player.now_ns = 20 * kSecondNs;
  EXPECT_EQ(nearest_mark(player), "iteration 1 +5.000 s");
  EXPECT_EQ(gap_text(player), "gap: 12 lost");
  player.now_ns = 30 * kSecondNs;
  EXPECT_EQ(gap_text(player), "12 lost before");
}

}  // namespace
}  // namespace ttmem::tui
