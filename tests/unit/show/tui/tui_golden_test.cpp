// SPDX-License-Identifier: Apache-2.0
//
// Compares screens of fixed snapshots with the files in tests/data/screens. After an intended
// change of a screen, run TTMEM_UPDATE_SCREENS=1 build/bin/ttmem_tui_test to rewrite the files.
// That run fails, because it compares nothing. Check the changes of the files, then run the test
// without the variable.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "read/collector/collector.hpp"
#include "support/temporary_directory.hpp"
#include "support/tui_fixtures.hpp"

namespace ttmem::tui {
namespace {

std::string path_of(const std::string& name) {
  return fmt::format("{}/tests/data/screens/{}.txt", TTMEM_SOURCE_DIR, name);
}

void expect_golden(const std::string& name, const Frame& frame) {
  if (std::getenv("TTMEM_UPDATE_SCREENS") != nullptr) {
    std::ofstream(path_of(name)) << frame.text();
    FAIL() << "written anew and not compared: " << path_of(name);
  }
  std::ifstream file(path_of(name));
  ASSERT_TRUE(file) << "no " << path_of(name);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(frame.text(), expected.str()) << name;
}

void expect_golden_sizes(const std::string& name, const model::Snapshot& snapshot,
                         const ViewState& state, Display display = {}) {
  for (const Size size : fixtures::kSizes) {
    const Screen screen =
        compose(snapshot, state, fixtures::ramp(snapshot), size, {.display = display});
    expect_golden(fmt::format("{}_{}x{}", name, size.width, size.height), screen.frame);
  }
}

TEST(GoldenScreen, OneDeviceFillsTheWidth) {
  expect_golden_sizes("detailed_1", fixtures::machine(1), {});
}

TEST(GoldenScreen, EightDevicesFitWithTheChosenOneMarked) {
  expect_golden_sizes("detailed_8", fixtures::machine(8), {.device = 2});
}

TEST(GoldenScreen, EightDevicesFitIntoFiftyLinesAsBoxes) {
  const model::Snapshot snapshot = fixtures::machine(8);
  const Screen screen = compose(snapshot, {}, {}, {80, 50}, {});
  expect_golden("detailed_8_80x50", screen.frame);
}

TEST(GoldenScreen, ThirtyTwoDevicesScrollToTheChosenOne) {
  expect_golden_sizes("detailed_32", fixtures::machine(32), {.device = 31});
}

TEST(GoldenScreen, TroubleIsShownWhereItIs) {
  expect_golden_sizes("detailed_troubled", views::fixtures::troubled(), {});
}

TEST(GoldenScreen, ChartsShowTheLastMinute) {
  expect_golden_sizes("charts", fixtures::machine(2), {.view = View::charts});
}

TEST(GoldenScreen, CoresShowTheGridAndTheChosenCore) {
  expect_golden_sizes("cores", fixtures::machine(2),
                      {.view = View::cores, .core_x = 3, .core_y = 5});
}

TEST(GoldenScreen, CoresShowBytesThatLockstepWastes) {
  const model::Snapshot snapshot = fixtures::sharded();
  const ViewState state{.view = View::cores, .core_x = 3, .core_y = 5};
  expect_golden("lockstep_200x60", compose(snapshot, state, {}, {200, 60}, {}).frame);
  const Screen plain =
      compose(snapshot, state, {}, {80, 24}, {.display = {.unicode = false, .color = false}});
  expect_golden("lockstep_ascii_80x24", plain.frame);
}

TEST(GoldenScreen, ProcessesShowWhichOneIsSelected) {
  expect_golden_sizes("processes", fixtures::crowd(),
                      {.view = View::processes, .selected = ProcessKey{60}});
}

TEST(GoldenScreen, AnOpenedProcessListsItsAllocations) {
  expect_golden_sizes("allocations", fixtures::crowd(),
                      {.view = View::processes, .opened = ProcessKey{4711}});
}

TEST(GoldenScreen, EveryViewDoesWithoutUnicodeAndColour) {
  const model::Snapshot snapshot = fixtures::crowd();
  for (const View view : {View::detailed, View::charts, View::cores, View::processes}) {
    const Screen screen = compose(snapshot, {.view = view}, fixtures::ramp(snapshot), {80, 24},
                                  {.display = {.unicode = false, .color = false}});
    const std::string text = screen.frame.text();
    for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
    expect_golden(fmt::format("ascii_{}_80x24", static_cast<int>(view)), screen.frame);
  }
}

TEST(GoldenScreen, HelpListsTheKeys) {
  expect_golden("help_80x24",
                compose(fixtures::machine(1), {.help = true}, {}, {80, 24}, {}).frame);
}

TEST(GoldenScreen, ARecordingShowsItsPosition) {
  const model::Snapshot snapshot = fixtures::machine(2);
  ViewState state{.paused = true, .player = Player{fixtures::tape(), 22'500'000'000, 2}};
  const ChartHistory history = fixtures::recorded_ramp(snapshot);
  for (const Size size : {Size{80, 24}, Size{200, 60}}) {
    state.view = View::detailed;
    expect_golden(fmt::format("replay_1_{}x{}", size.width, size.height),
                  compose(snapshot, state, history, size, {}).frame);
    state.view = View::charts;
    expect_golden(fmt::format("replay_2_{}x{}", size.width, size.height),
                  compose(snapshot, state, history, size, {}).frame);
  }
  const tui::Setup ascii{.display = {.unicode = false, .color = false}};
  expect_golden("replay_ascii_80x24", compose(snapshot, state, history, {80, 24}, ascii).frame);
  state.help = true;
  expect_golden("replay_help_80x24", compose(snapshot, state, history, {80, 24}, {}).frame);
}

TEST(GoldenScreen, ATerminalThatIsTooSmallShowsTheNeededSize) {
  expect_golden("small_38x9", compose(fixtures::machine(1), {}, {}, {38, 9}, {}).frame);
}

// Shows the snapshot that the collector makes if no process is tracked. test_top.py compares the
// screen of `ttmem top` with the same file.
TEST(GoldenScreen, WithNothingTrackedTheScreenSaysWhatToStart) {
  const TemporaryDirectory empty;
  model::Snapshot snapshot = collector::collect(empty.path());
  snapshot.time_unix_ns = 12 * 3'600'000'000'000;
  expect_golden("nothing_80x24", compose(snapshot, {}, {}, {80, 24}, {}).frame);
}

TEST(GoldenScreen, TheOptionOnceUsesOnlyTheNeededLines) {
  expect_golden("once_1", compose_once(fixtures::machine(1), 80, {}));
  expect_golden("once_8", compose_once(fixtures::machine(8), 100, {}));
}

}  // namespace
}  // namespace ttmem::tui
