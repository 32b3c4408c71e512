// SPDX-License-Identifier: Apache-2.0
#include "show/tui/terminal/top.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/directory_id.hpp"
#include "base/environment.hpp"
#include "base/parse_number.hpp"
#include "base/shell_quote.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/server_options.hpp"
#include "cli/watch.hpp"
#include "read/collector/collector.hpp"
#include "read/remote/live_feed.hpp"
#include "show/tui/replay/recorded_run.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/sgr.hpp"
#include "show/tui/terminal/history_client.hpp"
#include "show/tui/terminal/settings.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

struct TopArguments {
  std::optional<tui::View> view;
  std::optional<std::uint32_t> interval_ms;
  std::optional<tui::Theme> theme;
  std::string replay;  // path of a recording; empty: show the present state
  bool once = false;
  bool watch = false;  // accepted for tt_smi_umd, without effect
};

constexpr const char* kTopExamples = R"(
Examples:
  ttmem top                      the live view; h shows the keys, q ends it
  ttmem top --view 3 --device 1  the cores of device 1
  ttmem top --interval 100       ten times a second
  ttmem top --once               view 1 as text, once
  ttmem top | head -12           the same, because standard output is not a terminal
  ttmem top --server node7       another machine, where `ttmem serve` runs
  ttmem top --replay run.ttmem   a recording: Space plays, P is the peak, n the next mark

Views: 1 detailed, 2 charts, 3 cores, 4 processes and their allocations.)";

Result<tui::View> parse_view(const std::string& text) {
  if (text.size() == 1 && text[0] >= '1' && text[0] <= '4') {
    return static_cast<tui::View>(text[0] - '0');
  }
  return Error{fmt::format("--view {}: must be 1, 2, 3 or 4", text)};
}

Result<tui::Theme> parse_theme(const std::string& text) {
  if (text == "light") return tui::Theme::light;
  if (text == "terminal") return tui::Theme::terminal;
  return Error{fmt::format("--theme {}: must be light or terminal", text)};
}

Result<std::uint32_t> parse_interval(const std::string& text) {
  const Result<std::uint64_t> ms = parse_count("--interval", text);
  if (!ms) return ms.error();
  if (*ms >= tui::kShortestIntervalMs && *ms <= tui::kLongestIntervalMs) {
    return static_cast<std::uint32_t>(*ms);
  }
  return Error{fmt::format("--interval {}: must be from {} to {} milliseconds", text,
                           tui::kShortestIntervalMs, tui::kLongestIntervalMs)};
}

tui::Depth depth_of(const text::TextOptions& text) {
  if (!text.color) return tui::Depth::none;
  const bool many = std::string_view(environment("TERM")).find("256") != std::string_view::npos;
  return many ? tui::Depth::palette : tui::Depth::basic;
}

// Prints one frame: view 1 as text, any other view as a screen. The size of the screen is COLUMNS
// and LINES, else the size of the terminal, else 80x24.
int once(const TopArguments& options, const CommonOptions& common) {
  const Result<model::Snapshot> snapshot = current_snapshot(common);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  const text::TextOptions text = text_options(common.color);
  const tui::Setup setup{{text.unicode, text.color}, text.utc_offset_seconds};
  const int width = static_cast<int>(text.width);
  print_warnings(snapshot->warnings);
  if (options.view.value_or(tui::View::detailed) == tui::View::detailed) {
    return print_of(*snapshot,
                    tui::frame_to_sgr(tui::compose_once(*snapshot, width, setup), depth_of(text)));
  }
  tui::ViewState state;
  state.view = *options.view;
  tui::ChartHistory history;
  history.add(*snapshot);
  const auto typed = parse_number<std::uint32_t>(environment("LINES")).value_or(0);
  const int height =
      typed > 0 && typed <= 1000 ? static_cast<int>(typed) : static_cast<int>(terminal_rows());
  const tui::Screen screen = tui::compose(*snapshot, state, history, {width, height}, setup);
  return print_of(*snapshot, tui::frame_to_sgr(screen.frame, depth_of(text)));
}

// Prints view 1 repeatedly, on a terminal that cannot move the cursor.
int live_as_text(const TopArguments& options, const CommonOptions& common) {
  std::fputs(
      "ttmem: TERM says that this terminal cannot move the cursor: printing view 1 again and "
      "again; set TERM, for example to xterm, for the live view\n",
      stderr);
  const text::TextOptions text = text_options(common.color);
  const tui::Setup setup{{text.unicode, text.color}, text.utc_offset_seconds};
  return watch(options.interval_ms.value_or(2000) / 1000.0, WatchMode::append, [&] {
    const Result<model::Snapshot> snapshot = take_snapshot(common, remote::Lists::none);
    if (!snapshot) return snapshot.error().message + "\n";
    return tui::frame_to_sgr(tui::compose_once(*snapshot, static_cast<int>(text.width), setup),
                             depth_of(text)) +
           "\n";
  });
}

bool can_move_cursor() {
  const std::string_view type = environment("TERM");
  return !type.empty() && type != "dumb";
}

int show(const tui::TopOptions& top) {
  const auto ended = tui::run_top(top);
  return ended ? kSuccess : complain(ended.error().message, kFailure);
}

constexpr std::uint32_t kChartSeconds = tui::ChartHistory::kSpanNs / 1'000'000'000;

// Returns the history that a server on this machine has recorded. Returns an empty history if no
// server answers within 0.2 seconds, or if the server reads another directory. Devices of another
// directory may have the same names, but are not the same devices.
tui::EarlierSamples history_here(const model::DeviceName& device) {
  const auto server = tui::server_address(environment("TTMEM_HTTP"));
  if (!server) return {};
  const remote::ClientOptions briefly{.timeout = std::chrono::milliseconds(200)};
  tui::ServerHistory history = tui::fetch_history(*server, device, kChartSeconds, briefly);
  if (!history.answered) return {};
  const std::string name = fmt::format("ttmem serve on {}:{}", server->host, server->port);
  const std::string here = directory_id(segment_directory());
  if (!here.empty() && history.directory_id == here) {
    return {std::move(history.samples), "history from " + name};
  }
  return {{},
          history.directory_id.empty()
              ? fmt::format("no history: {} does not say which TTMEM_DIR it reads", name)
              : fmt::format("no history: {} reads another TTMEM_DIR", name)};
}

int show_now(tui::TopOptions& top) {
  collector::Collector collector(segment_directory());
  top.history_of = history_here;
  top.collect = [&](const tui::ViewState&) -> const model::Snapshot& {
    return collector.collect();
  };
  return show(top);
}

// Returns the lists that the view needs. View 3 and the allocations of view 4 need all lists. Other
// views need no lists.
remote::Lists lists_for(const tui::ViewState& state) {
  const bool lists = state.view == tui::View::cores || state.opened;
  return lists ? remote::Lists::all : remote::Lists::none;
}

int show_server(tui::TopOptions& top, const CommonOptions& common) {
  const Result<remote::ClientOptions> client = client_options(common);
  if (!client) return complain(client.error().message, kFailure);
  // Takes the first snapshot before the screen starts. A server that does not answer is then
  // reported like any other error.
  Result<model::Snapshot> first = take_snapshot(common, remote::Lists::all);
  if (!first) return complain(first.error().message, kFailure);
  remote::LiveFeed feed(*common.server, *client, std::move(*first));
  std::shared_ptr<const model::Snapshot> shown;
  top.start.elsewhere = true;
  top.history_of = [&](const model::DeviceName& device) {
    return tui::EarlierSamples{
        tui::fetch_history(*common.server, device, kChartSeconds, *client).samples};
  };
  top.collect = [&](const tui::ViewState& state) -> const model::Snapshot& {
    feed.want(lists_for(state), std::chrono::milliseconds(state.interval_ms));
    shown = feed.latest();
    return *shown;
  };
  return show(top);
}

int show_recording(tui::TopOptions& top, const std::string& path) {
  const auto run = tui::RecordedRun::open(path);
  if (!run) return complain(run.error().message, kFailure);
  top.history = (*run)->history();
  top.start.player = tui::player_of((*run)->tape());
  top.collect = [&](const tui::ViewState& state) -> const model::Snapshot& {
    return (*run)->at(state.player->now_ns);
  };
  return show(top);
}

int live(const TopArguments& options, const CommonOptions& common) {
  const text::TextOptions text = text_options(common.color);
  tui::TopOptions top;
  top.settings_path = tui::settings_path();
  tui::load_settings(top.settings_path, top.start);
  if (options.view) top.start.view = *options.view;
  if (options.theme) top.start.theme = *options.theme;
  if (options.interval_ms) top.start.interval_ms = *options.interval_ms;
  if (!common.devices.empty()) top.start.device = common.devices.front();
  top.color = text.color;
  top.unicode = text.unicode;
  top.utc_offset_seconds = text.utc_offset_seconds;
  if (!options.replay.empty()) return show_recording(top, options.replay);
  return common.server ? show_server(top, common) : show_now(top);
}

int top(const TopArguments& options, const CommonOptions& common) {
  if (common.devices.size() > 1) {
    return complain(fmt::format("--device {}: top starts with one device; write for example "
                                "--device {}",
                                text::format_names(common.devices),
                                text::format_names({common.devices.front()})),
                    kUsage);
  }
  if (!options.replay.empty() && !(stdout_is_terminal() && can_move_cursor())) {
    return complain(
        "--replay needs a terminal; in a pipe use: ttmem report " + shell_quote(options.replay),
        kUsage);
  }
  if (!options.replay.empty() && common.server) {
    return complain("--replay plays a file: leave out --server", kUsage);
  }
  const bool text = options.once || !stdout_is_terminal();
  if (text) return once(options, common);
  return can_move_cursor() ? live(options, common) : live_as_text(options, common);
}

}  // namespace

void add_top(Command& app, CommonOptions& common) {
  auto options = std::make_shared<TopArguments>();
  Command command =
      app.add_subcommand("top", "The live view: devices, charts, cores, processes", kTopExamples);
  command.add_option("--view", "N", options->view, parse_view,
                     "Begin with this view: 1, 2, 3 or 4");
  command.add_option("-i,--device", "N", common.devices, parse_devices,
                     "Begin with this device: its number or its uid");
  command.add_option("-r,--interval", "MS", options->interval_ms, parse_interval,
                     "Milliseconds between two refreshes (500); + and - change it");
  command.add_option("--theme", "NAME", options->theme, parse_theme,
                     "light, or terminal for the terminal's own background; T changes it");
  command.add_option("--replay", "FILE", options->replay,
                     "Play a recording (ttmem record, ttmem import) instead of the present state");
  command.add_flag("--once", options->once,
                   "Print view 1 as text and end; the default when stdout is no terminal");
  command.add_flag("-w", options->watch, "Accepted as in tt_smi_umd, without effect");
  add_color(command, common);
  add_server(command, common);
  command.does([options, &common] { return top(*options, common); });
}

}  // namespace ttmem::cli
