// SPDX-License-Identifier: Apache-2.0
#include "workload/demo/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "views/format.hpp"

namespace ttmem::cli {
namespace {

struct DemoOptions {
  std::string scenario = "mesh8";
  std::string seconds;
  bool hold = false;
  bool list = false;
};

constexpr const char* kExamples = R"(
Examples:
  ttmem demo                     eight simulated devices; run `ttmem` in another terminal
  ttmem demo --list              the scenarios
  ttmem demo training --hold     stay at the end until Ctrl-C
  ttmem demo leak --seconds 60)";

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const demo::ScenarioInfo& info : demo::scenarios()) result.emplace_back(info.name);
  return result;
}

int list_scenarios() {
  std::string text;
  for (const demo::ScenarioInfo& info : demo::scenarios()) {
    text += fmt::format("{:<16}  {}\n", info.name, info.summary);
  }
  return print(text);
}

int run_demo(const DemoOptions& typed) {
  if (typed.list && !demo::scenarios().empty()) return list_scenarios();
  const std::vector<std::string> known = names();
  if (!known.empty() && std::find(known.begin(), known.end(), typed.scenario) == known.end()) {
    const std::string near = nearest(typed.scenario, known);
    return complain(fmt::format("no scenario '{}'; {}", typed.scenario,
                                near.empty() ? "there are " + views::join(known, ", ")
                                             : "did you mean " + near + "?"),
                    kUsage);
  }
  demo::Options options{.scenario = typed.scenario, .seconds = std::nullopt, .hold = typed.hold};
  if (!typed.seconds.empty()) {
    const Result<double> seconds = parse_positive("--seconds", typed.seconds);
    if (!seconds) return complain(seconds.error().message, kUsage);
    options.seconds = *seconds;
  }
  const auto done = demo::run(options);
  return done ? int{kSuccess} : complain(done.error().message, kFailure);
}

}  // namespace

void add_demo(Command& app, Action& action) {
  auto options = std::make_shared<DemoOptions>();
  Command command =
      app.add_subcommand("demo", "A workload on simulated devices, tracked like any other");
  command.add_option("SCENARIO", options->scenario, "The scenario (mesh8); see --list")
      .type_name("");
  command.add_flag("--list", options->list, "List the scenarios");
  command.add_option("--seconds", options->seconds, "How long it runs").type_name("N");
  command.add_flag("--hold", options->hold, "Keep the final state until Ctrl-C");
  command.footer(kExamples);
  command.callback([options, &action] { action = [options] { return run_demo(*options); }; });
}

}  // namespace ttmem::cli
