// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string_view>

#include "show/tui/screen/detail_view.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/process_list.hpp"
#include "support/tui_fixtures.hpp"

namespace ttmem::tui {
namespace {

using Code = KeyPress::Code;

// Simulates a user at a terminal of 100x30 cells.
class Person {
 public:
  explicit Person(model::Snapshot snapshot, ViewState state = {})
      : snapshot_(std::move(snapshot)), state_(std::move(state)) {}

  Person& press(Code code) { return press(KeyPress{.code = code}); }
  Person& type(std::u32string_view characters) {
    for (const char32_t c : characters) press(KeyPress{.code = Code::character, .character = c});
    return *this;
  }
  Person& press(const KeyPress& key) {
    state_ = handle(std::move(state_), key, snapshot_, screen());
    return *this;
  }
  // Clicks on the first click area that has this meaning and value.
  Person& click(Click::What what, std::uint32_t value) {
    const Screen now = screen();
    for (const Hit& hit : now.hits) {
      if (hit.click.what != what || hit.click.value != value) continue;
      return press(KeyPress{.code = Code::click, .x = hit.rect.x, .y = hit.rect.y});
    }
    ADD_FAILURE() << "nothing to click at";
    return *this;
  }
  [[nodiscard]] Screen screen() const { return compose(snapshot_, state_, {}, {100, 30}, {}); }
  [[nodiscard]] bool sees(std::string_view text) const {
    return screen().frame.text().find(text) != std::string::npos;
  }
  [[nodiscard]] const ViewState& state() const { return state_; }
  // Returns the index of the chosen device.
  [[nodiscard]] std::size_t device() const { return selected_device(snapshot_, state_); }

 private:
  model::Snapshot snapshot_;
  ViewState state_;
};

TEST(Keys, DigitsTabAndClicksOpenTheViews) {
  Person person(fixtures::machine(2));
  EXPECT_EQ(person.type(U"3").state().view, View::cores);
  EXPECT_EQ(person.press(Code::tab).state().view, View::processes);
  EXPECT_EQ(person.press(Code::tab).state().view, View::detailed);
  EXPECT_EQ(person.press(Code::back_tab).state().view, View::processes);
  EXPECT_EQ(person.click(Click::What::view, 2).state().view, View::charts);
}

TEST(Keys, LeftAndRightChooseTheDeviceAndStopAtTheEnds) {
  Person person(fixtures::machine(3));
  EXPECT_EQ(person.press(Code::left).device(), 0U);
  EXPECT_EQ(person.press(Code::right).type(U"l").press(Code::right).device(), 2U);
  EXPECT_EQ(person.press(Code::up).device(), 1U);
  EXPECT_EQ(person.type(U"j").device(), 2U);
}

// Chips of three kinds have the same number: chips with a uid, a chip without a uid, and a chip of
// another architecture without a uid.
TEST(Keys, StepThroughChipsNotThroughNumbers) {
  model::Snapshot snapshot = fixtures::machine(4);
  for (model::Device& device : snapshot.devices) {
    device.id = 0;
    device.shares_number = true;
  }
  snapshot.devices[2].uid.reset();
  snapshot.devices[3].uid.reset();
  snapshot.devices[3].arch = "blackhole";
  Person person(snapshot);
  for (const std::size_t next : {1U, 2U, 3U, 3U}) {
    EXPECT_EQ(person.press(Code::right).device(), next);
  }
  for (const std::uint32_t i : {1U, 3U, 0U, 2U}) {
    EXPECT_EQ(person.click(Click::What::device, i).device(), i);
  }
  EXPECT_TRUE(person.sees("Device 0: 0x"));
  person.type(U"4");
  for (const std::size_t next : {0U, 1U, 2U, 3U}) {
    EXPECT_EQ(person.press(Code::right).state().only_device, name_of(snapshot.devices[next]));
  }
}

TEST(Keys, InTheGridArrowsAndHjklMoveTheCursorAndBracketsTheDevice) {
  Person person(fixtures::machine(2), {.view = View::cores});
  person.type(U"jjl").press(Code::right).press(Code::down).type(U"h").type(U"k");
  EXPECT_EQ(person.state().core_x, 1);
  EXPECT_EQ(person.state().core_y, 2);
  EXPECT_FALSE(person.state().help);
  EXPECT_EQ(person.type(U"]").device(), 1U);
  person.click(Click::What::core, 7U | (6U << 16));
  EXPECT_TRUE(person.sees("Core (7,6)"));
  for (int i = 0; i < 20; ++i) person.press(Code::right);
  EXPECT_EQ(person.state().core_x, 7);
}

TEST(Keys, HelpIsOpenedByItsKeysAndClosedByAny) {
  for (const char32_t key : {U'h', U'?'}) {
    Person person(fixtures::machine(1));
    EXPECT_TRUE(person.type(std::u32string(1, key)).sees("quit; Esc"));
    EXPECT_FALSE(person.type(U"x").state().help);
  }
}

TEST(Keys, QAndF10Quit) {
  EXPECT_TRUE(Person(fixtures::machine(1)).type(U"q").state().quit);
  EXPECT_TRUE(Person(fixtures::machine(1)).press(Code::f10).state().quit);
  EXPECT_FALSE(Person(fixtures::machine(1)).type(U"x").state().quit);
}

TEST(Keys, EscClosesTheOpenPartAndNeverQuits) {
  for (const View view : {View::detailed, View::charts, View::cores, View::processes}) {
    Person person(fixtures::machine(2), {.view = view});
    person.type(U"/n300").press(Code::enter);
    EXPECT_EQ(person.state().filter, "n300");
    person.press(Code::escape);
    EXPECT_EQ(person.state().filter, "");
    person.type(U"?").press(Code::escape).press(Code::escape).press(Code::escape);
    EXPECT_FALSE(person.state().help);
    EXPECT_EQ(person.state().view, view);
    EXPECT_FALSE(person.state().quit);
  }
}

TEST(Keys, TheFilterOfViews1And2IsAboutDevices) {
  for (const View view : {View::detailed, View::charts}) {
    Person person(fixtures::machine(12), {.view = view});
    person.type(U"/DEVICE 1").press(Code::enter);  // the pattern matches devices 1, 10 and 11
    EXPECT_TRUE(person.sees("filter: DEVICE 1"));
    person.press(Code::down).press(Code::down).press(Code::down);
    EXPECT_EQ(person.device(), 11U);
    person.type(U"/ and nothing else");
    EXPECT_TRUE(person.sees("No device matches the filter"));
    person.press(Code::escape);
    EXPECT_FALSE(person.sees("No device matches the filter"));
  }
}

TEST(Keys, TheFilterOfView3IsAboutTheRangesOfTheCore) {
  Person person(fixtures::crowd(), {.view = View::cores});
  EXPECT_TRUE(person.sees("fixed"));
  person.type(U"/headroom");
  EXPECT_TRUE(person.sees("filter: headroom"));
  EXPECT_FALSE(person.sees("fixed"));
}

TEST(Keys, EachViewHasItsOwnFilter) {
  Person person(fixtures::crowd());
  person.type(U"/n300").press(Code::enter).type(U"4");
  EXPECT_EQ(person.state().filter, "");
}

TEST(Keys, F9AsksAndEnterSendsTheChosenSignal) {
  model::Snapshot snapshot = fixtures::crowd();
  for (model::Device& device : snapshot.devices) {
    for (model::Process& process : device.processes) process.host_pid = process.pid;
  }
  Person person(snapshot, {.view = View::processes, .selected = ProcessKey{4711}});
  person.press(Code::f9);
  EXPECT_TRUE(person.sees("Send SIGTERM to process 4711"));
  EXPECT_FALSE(person.press(Code::escape).state().end);
  person.press(Code::f9).press(Code::tab).press(Code::tab);
  EXPECT_TRUE(person.sees("Send SIGKILL to process 4711"));
  person.press(Code::enter);
  ASSERT_TRUE(person.state().end);
  EXPECT_EQ(person.state().end->pid, 4711);
  EXPECT_EQ(kSignals[person.state().end->signal].number, SIGKILL);
  EXPECT_FALSE(person.state().asks_to_end);
}

TEST(Keys, F9DoesNotAskAboutAProcessThatCannotBeSignalled) {
  Person person(fixtures::crowd(), {.view = View::processes, .selected = ProcessKey{4711}});
  person.press(Code::f9);
  EXPECT_FALSE(person.state().asks_to_end);
  EXPECT_TRUE(person.sees("pid here is unknown"));
}

TEST(Keys, TheThemeHasAKey) {
  Person person(fixtures::machine(1));
  EXPECT_EQ(person.type(U"T").state().theme, Theme::light);
  EXPECT_EQ(person.type(U"T").state().theme, Theme::terminal);
}

TEST(Keys, PauseWindowAndRateHaveTheirKeys) {
  Person person(fixtures::machine(1), {.view = View::charts});
  EXPECT_TRUE(person.type(U"p").sees("PAUSED"));
  EXPECT_FALSE(person.type(U"p").sees("PAUSED"));
  EXPECT_EQ(person.type(U"t").state().window_seconds, 120U);
  EXPECT_EQ(person.type(U"tt").state().window_seconds, 30U);
  EXPECT_EQ(person.type(U"+").state().interval_ms, 200U);
  EXPECT_EQ(person.type(U"---").state().interval_ms, 2000U);
  EXPECT_EQ(person.type(U"++++++++++").state().interval_ms, kShortestIntervalMs);
  EXPECT_EQ(person.type(U"--------------").state().interval_ms, kLongestIntervalMs);
}

TEST(Keys, SortGoesThroughAllColumnsAndAClickReverses) {
  Person person(fixtures::crowd(), {.view = View::processes});
  EXPECT_EQ(person.state().sorting.column, 4U);
  // The key moves through all columns except JOB, which is not shown because this machine has no
  // jobs.
  for (std::uint32_t i = 1; i < kProcessColumns; ++i) person.type(U"s");
  EXPECT_EQ(person.state().sorting.column, 4U);
  person.press(Code::f6);
  EXPECT_EQ(person.state().sorting, (Sorting{5, true}));
  person.click(Click::What::column, 0);
  EXPECT_EQ(person.state().sorting, (Sorting{0, false}));
  person.click(Click::What::column, 0);
  EXPECT_EQ(person.state().sorting, (Sorting{0, true}));
  EXPECT_EQ(person.type(U"r").state().sorting, (Sorting{0, false}));
}

TEST(Keys, EverySortColumnOrdersTheRows) {
  const model::Snapshot snapshot = fixtures::crowd();
  ViewState state{.view = View::processes, .sorting = {4, true}};
  EXPECT_EQ(process_rows(snapshot, state).front().sum.pid, 50);
  state.sorting = {0, false};
  EXPECT_EQ(process_rows(snapshot, state).front().sum.pid, 50);
  EXPECT_EQ(process_rows(snapshot, state).back().sum.pid, 4711);
  state.sorting = {2, true};
  EXPECT_EQ(process_rows(snapshot, state).front().sum.state, model::State::dead);
  state.sorting = {13, false};
  EXPECT_EQ(process_rows(snapshot, state).front().sum.name, "evaluator");
}

TEST(Keys, TheFilterTakesCharactersUntilEnterAndEscClearsIt) {
  Person person(fixtures::crowd(), {.view = View::processes});
  person.type(U"/EvalQx").press(Code::backspace).press(Code::backspace);
  EXPECT_EQ(person.state().view, View::processes);
  EXPECT_EQ(person.state().filter, "Eval");
  EXPECT_TRUE(person.sees("evaluator"));
  EXPECT_FALSE(person.sees("trainer"));
  person.press(Code::enter).type(U"s");
  EXPECT_EQ(person.state().filter, "Eval");
  person.press(Code::escape);
  EXPECT_TRUE(person.sees("trainer"));
  EXPECT_FALSE(person.state().quit);
}

TEST(Keys, BackspaceTakesAWholeCharacter) {
  Person person(fixtures::crowd());
  person.type(U"/é").press(Code::backspace);
  EXPECT_EQ(person.state().filter, "");
}

TEST(Keys, EnterOpensTheAllocationsOfTheSelectedProcessAndEscGoesBack) {
  Person person(fixtures::crowd(), {.view = View::processes, .selected = ProcessKey{4711}});
  EXPECT_TRUE(person.press(Code::enter).sees("layers.0.weight"));
  EXPECT_TRUE(person.sees("4 live allocations and 4 CBs of 3 programs"));
  person.type(U"/semaph").press(Code::enter);
  EXPECT_FALSE(person.sees("layers.0.weight"));
  EXPECT_TRUE(person.sees("semaphores"));
  person.press(Code::escape).press(Code::escape);
  EXPECT_FALSE(person.state().opened);
  EXPECT_FALSE(person.state().quit);
}

TEST(Keys, ASecondClickOnAProcessOpensIt) {
  Person person(fixtures::crowd(), {.view = View::processes});
  person.click(Click::What::process, 1);
  EXPECT_FALSE(person.state().opened);
  person.click(Click::What::process, 1);
  EXPECT_TRUE(person.state().opened);
}

TEST(Keys, TheSelectionStaysWithItsProcess) {
  Person person(fixtures::crowd(), {.view = View::processes});
  person.press(Code::down);
  const auto selected = person.state().selected;
  ASSERT_TRUE(selected);
  person.type(U"s");
  EXPECT_EQ(person.state().selected, selected);
  person.press(Code::end).press(Code::home);
  EXPECT_EQ(selected_row(process_rows(fixtures::crowd(), person.state()), person.state()), 0);
}

TEST(Keys, InTheProcessesLeftAndRightChooseWhichDevicesAreListed) {
  Person person(fixtures::crowd(), {.view = View::processes});
  person.press(Code::right);
  EXPECT_EQ(person.state().only_device, name_of(fixtures::crowd().devices[0]));
  EXPECT_FALSE(person.sees("trainer"));
  person.press(Code::left);
  EXPECT_EQ(person.state().only_device, std::nullopt);
  EXPECT_TRUE(person.sees("trainer"));
}

TEST(Keys, DeadOwnersAreMarked) {
  Person person(fixtures::crowd(), {.view = View::processes});
  EXPECT_TRUE(person.sees("dead"));
  const Screen screen = person.screen();
  bool red = false;
  for (int y = 0; y < 30; ++y) {
    if (screen.frame.row_text(y).find("pytest") == std::string::npos) continue;
    red = screen.frame.at(5, y).style.ink == Ink::bad;
  }
  EXPECT_TRUE(red);
}

TEST(Keys, TheFooterNamesTheKeysOfTheView) {
  EXPECT_TRUE(Person(fixtures::machine(1)).type(U"2").sees("t window"));
  EXPECT_TRUE(Person(fixtures::machine(1)).type(U"3").sees("[ ] device"));
  EXPECT_TRUE(Person(fixtures::machine(1)).type(U"4").sees("/ filter"));
  EXPECT_TRUE(Person(fixtures::machine(1)).sees("q quit"));
}

}  // namespace
}  // namespace ttmem::tui
