// SPDX-License-Identifier: Apache-2.0
//
// Tests the parts of a screen.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "show/tui/screen/core_map.hpp"
#include "show/tui/screen/plot.hpp"
#include "show/tui/screen/sgr.hpp"
#include "show/tui/screen/theme.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/tui/terminal/history_client.hpp"
#include "show/tui/terminal/settings.hpp"
#include "support/temporary_directory.hpp"
#include "support/tui_fixtures.hpp"

namespace ttmem::tui {
namespace {

constexpr Display kPlain{};

TEST(Theme, EachInkHasItsOwnColourInTheLightTheme) {
  const auto fill_of = [](Ink fill) {
    return colors_of({.fill = fill}, Depth::direct, Theme::light).fill;
  };
  EXPECT_EQ(fill_of(Ink::cbs), 0x7a2fb0);
  EXPECT_EQ(fill_of(Ink::heat0), 0xffffff);
  EXPECT_EQ(fill_of(Ink::heat6), fill_of(Ink::bad));
}

TEST(Frame, TextIsCutAtTheEdgeWithAnEllipsis) {
  Frame frame({6, 1});
  Pane pane(frame, {0, 0, 6, 1}, kPlain);
  EXPECT_EQ(pane.put(0, 0, "abcdefgh"), 6);
  EXPECT_EQ(frame.text(), "abcde…\n");
}

TEST(Frame, WideCharactersTakeTwoCellsAndAreNeverHalved) {
  Frame frame({5, 1});
  Pane pane(frame, {0, 0, 5, 1}, kPlain);
  pane.put(0, 0, "名前");
  EXPECT_EQ(frame.row_text(0), "名前 ");
  pane.put(1, 0, "x");
  EXPECT_EQ(frame.row_text(0), " x前 ");
  pane.put(3, 0, "y");
  EXPECT_EQ(frame.row_text(0), " x y ");
}

TEST(Frame, CombiningCharactersStayOnTheirLetter) {
  Frame frame({4, 1});
  Pane pane(frame, {0, 0, 4, 1}, kPlain);
  EXPECT_EQ(pane.put(0, 0, "e\xcc\x81x"), 2);
  EXPECT_EQ(frame.row_text(0), "e\xcc\x81x  ");
}

TEST(Frame, NothingIsDrawnOutsideOfAPane) {
  Frame frame({10, 3});
  Pane pane(frame, {2, 1, 4, 1}, kPlain);
  pane.put(0, 1, "below");
  pane.put(0, -1, "above");
  pane.repeat(-3, 0, 20, "x");
  EXPECT_EQ(frame.text(), "\n  xxxx\n\n");
}

TEST(Bar, EndsWhereTheShareEndsAndMarksThePeak) {
  Frame frame({10, 1});
  Pane pane(frame, {0, 0, 10, 1}, kPlain);
  bar(pane, 0, 0, 10, {{0, 0.25, text::Tone::good}}, 0.75);
  EXPECT_EQ(frame.row_text(0), "██▌░░░░┃░░");
  bar(pane, 0, 0, 10, {{0, 0.25, text::Tone::good}}, 0.25);
  EXPECT_EQ(frame.row_text(0), "██▌░░░░░░░");
}

TEST(Bar, ANonzeroShareIsVisible) {
  constexpr text::Tone kBuffers = text::Tone::buffers;
  constexpr text::Tone kCbs = text::Tone::cbs;
  Frame frame({10, 1});
  Pane pane(frame, {0, 0, 10, 1}, kPlain);
  bar(pane, 0, 0, 10, {{0, 0.0001, kBuffers}, {0.0001, 0.0002, kCbs}}, std::nullopt);
  EXPECT_EQ(frame.row_text(0), "█▏░░░░░░░░");
  bar(pane, 0, 0, 10, {{0, 0, kBuffers}, {0, 0.5, kCbs}, {0.5, 0.5, kBuffers}}, std::nullopt);
  EXPECT_EQ(frame.row_text(0), "█████░░░░░");
}

TEST(Bar, APartIsDrawnAtItsPlaceWithoutATrack) {
  Frame frame({10, 1});
  Pane pane(frame, {0, 0, 10, 1}, kPlain);
  bar(pane, 0, 0, 10, {{0.3, 0.5, text::Tone::cbs}}, std::nullopt, BarForm::part);
  EXPECT_EQ(frame.row_text(0), "   ▆▆     ");
  bar(pane, 0, 0, 10, {{0.7, 0.7001, text::Tone::kernels}}, std::nullopt, BarForm::part);
  EXPECT_EQ(frame.row_text(0), "   ▆▆  ▏  ");
}

TEST(Ink, FollowsTheTone) {
  EXPECT_EQ(ink_of(text::tone_of_share(0.60)), Ink::good);
  EXPECT_EQ(ink_of(text::tone_of_share(0.61)), Ink::warn);
  EXPECT_EQ(ink_of(text::tone_of_share(0.81)), Ink::bad);
  EXPECT_EQ(ink_of(text::tone_of_share(std::nullopt)), Ink::dim);
  EXPECT_EQ(ink_of(text::Tone::kernels), Ink::kernels);
}

TEST(Sgr, WithoutColourNoSequenceIsWritten) {
  const Frame frame = compose(fixtures::machine(1), {}, {}, {80, 24}, {}).frame;
  EXPECT_EQ(frame_to_sgr(frame, Depth::none).find('\x1b'), std::string::npos);
  EXPECT_NE(frame_to_sgr(frame, Depth::basic).find("\x1b[0;32m"), std::string::npos);
  EXPECT_NE(frame_to_sgr(frame, Depth::palette).find(";38;5;"), std::string::npos);
  EXPECT_NE(frame_to_sgr(frame, Depth::direct).find(";38;2;"), std::string::npos);
}

ChartSample sample_at(std::uint64_t seconds, std::uint64_t dram) {
  ChartSample sample;
  sample.time_unix_ns = seconds * 1'000'000'000;
  sample.dram_bytes = dram;
  return sample;
}

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(Curve, HasTheHighestSampleOfEachColumnAndHoldsTheLast) {
  const std::deque<ChartSample> samples = {sample_at(100, 1), sample_at(101, 7), sample_at(102, 3)};
  const Curve curve =
      curve_of(samples, &ChartSample::dram_bytes,
               {.end_ns = 110 * kSecond, .span_ns = 20 * kSecond, .hold_ns = 4 * kSecond}, 10);
  const Curve expected = {
      std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, 7, 3, 3, 3,
      std::nullopt};
  EXPECT_EQ(curve, expected);
}

TEST(Curve, IsEmptyWithoutSamplesAndInUnmeasuredColumns) {
  const Window window{.end_ns = 100 * kSecond, .span_ns = 10 * kSecond, .hold_ns = kSecond};
  EXPECT_EQ(curve_of({}, &ChartSample::dram_bytes, window, 2), Curve(2));
  EXPECT_EQ(curve_of({sample_at(99, 5)}, &ChartSample::cb_bytes, window, 2), Curve(2));
  EXPECT_EQ(curve_of({sample_at(10, 5)}, &ChartSample::dram_bytes, window, 2), Curve(2));
}

TEST(Curve, AnAgeThatOverflowsTheColumnsIsBeforeTheBegin) {
  const Window window{.end_ns = ~0ULL, .span_ns = 1, .hold_ns = 0};
  EXPECT_EQ(curve_of({sample_at(1, 5)}, &ChartSample::dram_bytes, window, 100), Curve(100));
}

TEST(Area, AMeasuredZeroIsALineAndAnUnknownIsBlank) {
  Frame frame({3, 2});
  Pane pane(frame, {0, 0, 3, 2}, kPlain);
  area(pane, {0.0, 0.0, 1.0, 1.0, std::nullopt, std::nullopt});
  EXPECT_EQ(frame.text(), " ⣿\n⣀⣿\n");
  EXPECT_EQ(frame.at(0, 1).style.ink, Ink::dim);
  EXPECT_EQ(frame.at(1, 0).style.ink, Ink::warn);
  EXPECT_EQ(frame.at(1, 1).style.ink, Ink::good);
}

TEST(ChartHistory, DropsSamplesOlderThanFiveMinutesAndStaysBounded) {
  ChartHistory history;
  model::Snapshot snapshot = fixtures::machine(1);
  const std::uint64_t start = snapshot.time_unix_ns;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    snapshot.time_unix_ns = start + i * 50'000'000;
    history.add(snapshot);
  }
  const auto& samples = history.of(snapshot.devices[0]);
  EXPECT_LE(samples.size(), ChartHistory::kMaxSamples);
  EXPECT_GE(samples.front().time_unix_ns, snapshot.time_unix_ns - ChartHistory::kSpanNs);
  EXPECT_EQ(samples.back().time_unix_ns, snapshot.time_unix_ns);
}

TEST(ChartHistory, PutsAServersHistoryBeforeItsOwnSamples) {
  ChartHistory history;
  const model::Snapshot snapshot = fixtures::machine(1);
  history.add(snapshot);
  const std::uint64_t now = snapshot.time_unix_ns / kSecond;
  history.prepend(snapshot.devices[0], {sample_at(now - 2, 1), sample_at(now - 3, 9),
                                        sample_at(now - 1, 2), sample_at(now + 5, 3)});
  const auto& samples = history.of(snapshot.devices[0]);
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].dram_bytes, 1U);
  EXPECT_EQ(samples[1].dram_bytes, 2U);
  EXPECT_EQ(samples[2].time_unix_ns, snapshot.time_unix_ns);
}

TEST(CoreMap, NamesTheProgramOfACb) {
  model::Snapshot snapshot = fixtures::machine(1);
  snapshot.programs[0].name = "decoder.0.matmul";
  EXPECT_EQ(core_map(snapshot, 0, 5).spans[3].what, "program 77 decoder.0.matmul");
}

TEST(CoreMap, HasBuffersAboveCbsBelowAndTheGapBetween) {
  const CoreMap map = core_map(fixtures::machine(1), 0, 5);
  ASSERT_EQ(map.spans.size(), 5U);
  EXPECT_EQ(map.spans.front().kind, Kind::l1_small);
  EXPECT_EQ(map.spans.back().kind, Kind::cb);
  EXPECT_EQ(map.spans.back().programs, 2U);
  EXPECT_EQ(map.spans.back().owner, "4711 python3");
  EXPECT_EQ(map.spans[3].what, "program 77");
  EXPECT_EQ(map.free_begin, fixtures::kL1Base + 98'304);
  EXPECT_EQ(map.free_end, fixtures::kL1End - fixtures::kSmallRegion - 262'144);
  EXPECT_EQ(map.views, 1U);
}

TEST(CoreMap, ShowsBytesThatLockstepWastes) {
  model::Snapshot snapshot = fixtures::machine(1);
  for (model::Allocation& a : snapshot.allocations) a.cores = CoreMask::first(8);
  const CoreMap map = core_map(snapshot, 0, 8);
  ASSERT_EQ(map.spans.size(), 5U);
  EXPECT_EQ(cover_of(map.spans[1]), Cover::lockstep);
  EXPECT_EQ(map.spans[1].what, "residual on (0,0)-(7,0)");
  EXPECT_EQ(map.free_end, fixtures::kL1End - fixtures::kSmallRegion - 262'144);
  EXPECT_EQ(bands_of(map, 60)[50], Cover::lockstep);
  EXPECT_EQ(cover_of(core_map(snapshot, 0, 7).spans[1]), Cover::l1);
}

TEST(CoreMap, LeavesOutOtherAllocatorsAndDeadProcesses) {
  model::Snapshot snapshot = fixtures::machine(1);
  for (model::Allocation& a : snapshot.allocations) {
    a.cores = CoreMask::first(8);
    a.own_banks = true;
  }
  for (model::Program& p : snapshot.programs) p.state = model::State::dead;
  EXPECT_TRUE(core_map(snapshot, 0, 8).spans.empty());
  EXPECT_EQ(core_map(snapshot, 0, 7).spans.size(), 3U);
}

TEST(CoreMap, BandsShowTheirContentsAndAClash) {
  model::Snapshot snapshot = fixtures::machine(1);
  std::vector<Cover> bands = bands_of(core_map(snapshot, 0, 0), 60);
  EXPECT_EQ(bands.front(), Cover::reserved);
  EXPECT_EQ(bands[5], Cover::cb);
  EXPECT_EQ(bands[20], Cover::free);
  EXPECT_EQ(bands[50], Cover::l1);
  EXPECT_EQ(bands.back(), Cover::l1_small);
  snapshot.programs[0].cbs[0].bytes = 1'200'000;
  bands = bands_of(core_map(snapshot, 0, 0), 60);
  EXPECT_EQ(bands[51], Cover::clash);
  EXPECT_TRUE(bands_of({}, 60).empty());
}

TEST(Settings, SettingsAreReadBackAsWritten) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/deep/top.toml";
  ViewState state{.view = View::cores, .interval_ms = 1000, .window_seconds = 300};
  state.sorting = {6, false};
  ASSERT_TRUE(save_settings(path, state));
  ViewState read;
  load_settings(path, read);
  EXPECT_EQ(read, state);
}

TEST(Settings, UnknownLinesAreIgnored) {
  ViewState state;
  EXPECT_EQ(apply_settings("# note\nview = 9\ninterval_ms = 1\nsort = DRAM\nsort = \"?\"\nx\n"
                           "window_seconds = 31\n view  =  2 \n",
                           state),
            6);
  EXPECT_EQ(state, (ViewState{.view = View::charts}));
  load_settings("/nowhere/top.toml", state);
  EXPECT_EQ(state.message, "");
}

TEST(Settings, AFolderThatCannotBeMadeIsAnErrorMessage) {
  const auto saved = save_settings("/dev/null/ttmem/top.toml", {});
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("/dev/null/ttmem/top.toml"), std::string::npos);
}

TEST(HistoryClient, AsksOnlyThisMachine) {
  EXPECT_EQ(server_address(nullptr)->port, 9488);
  EXPECT_EQ(server_address("localhost:80")->host, "127.0.0.1");
  EXPECT_EQ(server_address(":81")->port, 81);
  for (const char* wrong : {"192.0.2.1:80", "example.org:80", "127.0.0.1", "127.0.0.1:0",
                            "127.0.0.1:70000", "127.0.0.1:x", ":"}) {
    EXPECT_FALSE(server_address(wrong)) << wrong;
  }
}

TEST(HistoryClient, ReadsPointsAndToleratesAnything) {
  const ServerHistory history = parse_history(
      R"({"schema":"ttmem.history.v1","device":0,"directory_id":"b:1a:1","interval_seconds":1,"points":[
          {"time_unix_ns":20,"dram_bytes":5,"l1_bytes":null,"cb_bytes":-3,"kernels_bytes":"x"},
          {"time_unix_ns":10,"l1_used_bytes":6,"dram_peak_bytes":9}, {"dram_bytes":1}, 7, null]})");
  EXPECT_TRUE(history.answered);
  EXPECT_EQ(history.directory_id, "b:1a:1");
  const std::vector<ChartSample>& samples = history.samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].time_unix_ns, 10U);
  EXPECT_EQ(samples[0].l1_used_bytes, 6U);
  EXPECT_EQ(samples[0].dram_bytes, std::nullopt);
  EXPECT_EQ(samples[1].dram_bytes, 5U);
  EXPECT_EQ(samples[1].cb_bytes, std::nullopt);
  for (const char* text :
       {"", "{", "[]", "null", R"({"schema":"other","points":[]})",
        R"({"schema":"ttmem.history.v1","points":{}})", R"({"schema":7,"points":[]})"}) {
    EXPECT_FALSE(parse_history(text).answered) << text;
    EXPECT_TRUE(parse_history(text).samples.empty()) << text;
  }
  constexpr std::size_t deep = 200'000;  // a recursive copy would overflow the stack
  EXPECT_TRUE(parse_history(R"({"schema":)" + std::string(deep, '[') + std::string(deep, ']') + "}")
                  .samples.empty());
}

TEST(HistoryClient, WithoutAServerThereIsNoHistory) {
  // No server listens on port 1. The connection therefore fails at once.
  EXPECT_FALSE(fetch_history({.host = "127.0.0.1", .port = 1}, 0, 60, {}).answered);
}

}  // namespace
}  // namespace ttmem::tui
