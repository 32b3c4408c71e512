// SPDX-License-Identifier: Apache-2.0
#include "tui/terminal/top.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "base/parse_number.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "collector/collector.hpp"
#include "tui/screen/keys.hpp"
#include "tui/screen/sgr.hpp"
#include "tui/terminal/settings.hpp"

namespace ttmem::cli {
namespace {

// As typed, not checked yet.
struct TypedOptions {
  std::string view;
  std::string interval;
  bool once = false;
  bool watch = false;  // of tt_smi_umd, without effect
};

// The checked values.
struct Options {
  std::optional<tui::View> view;
  std::optional<std::uint32_t> interval_ms;
  std::optional<std::uint32_t> device;
  ColorWhen color = ColorWhen::automatic;
};

constexpr const char* kExamples = R"(
Examples:
  ttmem top                      the live view; h shows the keys, q ends it
  ttmem top --view 3 --device 1  the cores of device 1
  ttmem top --interval 100       ten times a second
  ttmem top --once               view 1 as text, once
  ttmem top | head -12           the same: not a terminal

Views: 1 detailed, 2 charts, 3 cores, 4 processes and their allocations.)";

Result<Options> options_of(const TypedOptions& typed, const CommonOptions& common) {
  Options options;
  const Result<CommonValues> values = values_of(common);
  if (!values) return values.error();
  options.color = values->color;
  if (values->devices.size() > 1) {
    return Error{
        fmt::format("--device {}: top starts with one device; write for example "
                    "--device {}",
                    common.devices, values->devices.front())};
  }
  if (!values->devices.empty()) options.device = values->devices.front();
  if (!typed.view.empty()) {
    if (typed.view.size() != 1 || typed.view[0] < '1' || typed.view[0] > '4') {
      return Error{fmt::format("--view {}: must be 1, 2, 3 or 4", typed.view)};
    }
    options.view = static_cast<tui::View>(typed.view[0] - '0');
  }
  if (typed.interval.empty()) return options;
  const Result<std::uint64_t> ms = parse_count("--interval", typed.interval);
  if (!ms) return ms.error();
  if (*ms < tui::kShortestIntervalMs || *ms > tui::kLongestIntervalMs) {
    return Error{fmt::format("--interval {}: must be from {} to {} milliseconds", typed.interval,
                             tui::kShortestIntervalMs, tui::kLongestIntervalMs)};
  }
  options.interval_ms = static_cast<std::uint32_t>(*ms);
  return options;
}

tui::Depth depth_of(const views::TextOptions& text) {
  if (!text.color) return tui::Depth::none;
  const bool many = std::string_view(environment("TERM")).find("256") != std::string_view::npos;
  return many ? tui::Depth::palette : tui::Depth::basic;
}

// View 1 as text; another view as a screen of 80x24, or as COLUMNS and LINES say.
int once(const Options& options, bool doctor) {
  std::vector<std::uint32_t> devices;
  if (options.device) devices.push_back(*options.device);
  const Result<model::Snapshot> snapshot = current_snapshot(devices);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  const views::TextOptions text = text_options(options.color);
  const tui::Setup setup{{text.unicode, text.color}, text.utc_offset_seconds, doctor};
  const int width = static_cast<int>(text.width);
  print_warnings(*snapshot);
  if (options.view.value_or(tui::View::detailed) == tui::View::detailed) {
    return print(tui::frame_to_sgr(tui::compose_once(*snapshot, width, setup), depth_of(text)));
  }
  tui::ViewState state;
  state.view = *options.view;
  tui::ChartHistory history;
  history.add(*snapshot);
  const auto typed = parse_number<std::uint32_t>(environment("LINES")).value_or(0);
  const int height =
      typed > 0 && typed <= 1000 ? static_cast<int>(typed) : static_cast<int>(terminal_rows());
  const tui::Screen screen = tui::compose(*snapshot, state, history, {width, height}, setup);
  return print(tui::frame_to_sgr(screen.frame, depth_of(text)));
}

int live(const Options& options, bool doctor) {
  const views::TextOptions text = text_options(options.color);
  tui::TopOptions top;
  top.settings_path = tui::settings_path();
  tui::load_settings(top.settings_path, top.start);
  if (options.view) top.start.view = *options.view;
  if (options.interval_ms) top.start.interval_ms = *options.interval_ms;
  top.start.device = options.device;
  top.color = text.color;
  top.unicode = text.unicode;
  top.utc_offset_seconds = text.utc_offset_seconds;
  top.doctor = doctor;
  top.server = tui::server_address(environment("TTMEM_HTTP"));
  collector::Collector collector(segment_directory());
  top.collect = [&]() -> const model::Snapshot& { return collector.collect(); };
  const auto ended = tui::run_top(top);
  return ended ? kSuccess : complain(ended.error().message, kFailure);
}

int top(const TypedOptions& typed, const CommonOptions& common, bool doctor) {
  const Result<Options> options = options_of(typed, common);
  if (!options) return complain(options.error().message, kUsage);
  const bool text = typed.once || !stdout_is_terminal();
  return text ? once(*options, doctor) : live(*options, doctor);
}

}  // namespace

void add_top(Command& app, CommonOptions& common, Action& action) {
  auto options = std::make_shared<TypedOptions>();
  Command command = app.add_subcommand("top", "The live view: devices, charts, cores, processes");
  command.add_option("--view", options->view, "Begin with this view: 1, 2, 3 or 4").type_name("N");
  command.add_option("--device", common.devices, "Begin with this device").type_name("N");
  command
      .add_option("-r,--interval", options->interval,
                  "Milliseconds between two refreshes (500); + and - change it")
      .type_name("MS");
  command.add_flag("--once", options->once,
                   "Print view 1 as text and end; the default when stdout is no terminal");
  command.add_flag("-w", options->watch, "Accepted as in tt_smi_umd, without effect");
  command.add_option("--color", common.color, "auto, always or never; auto obeys NO_COLOR")
      .type_name("WHEN");
  command.footer(kExamples);
  command.callback([options, &app, &common, &action] {
    action = [options, &app, &common] {
      return top(*options, common, app.has_subcommand("doctor"));
    };
  });
}

}  // namespace ttmem::cli
