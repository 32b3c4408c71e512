// SPDX-License-Identifier: Apache-2.0
#include "simulator/demo/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "text/format.hpp"
#include "text/nearest.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kDemoExamples = R"(
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

int run_demo(const demo::DemoOptions& options) {
  const std::vector<std::string> known = names();
  if (!known.empty() && std::find(known.begin(), known.end(), options.scenario) == known.end()) {
    const std::string near = text::nearest(options.scenario, known);
    return complain(fmt::format("no scenario '{}'; {}", options.scenario,
                                near.empty() ? "there are " + text::join(known, ", ")
                                             : "did you mean " + near + "?"),
                    kUsage);
  }
  const auto done = demo::run(options);
  return done ? int{kSuccess} : complain(done.error().message, kFailure);
}

}  // namespace

void add_demo(Command& app) {
  auto options = std::make_shared<demo::DemoOptions>();
  auto list = std::make_shared<bool>(false);
  Command command = app.add_subcommand(
      "demo", "A workload on simulated devices, tracked like any other", kDemoExamples);
  command.add_option("SCENARIO", "", options->scenario, "The scenario (mesh8); see --list");
  command.add_flag("--list", *list, "List the scenarios");
  command.add_option("--seconds", "N", options->seconds,
                     std::bind_front(parse_positive, "--seconds"), "Duration in seconds");
  command.add_flag("--hold", options->hold, "Keep the final state until Ctrl-C");
  command.does([options, list] {
    return *list && !demo::scenarios().empty() ? list_scenarios() : run_demo(*options);
  });
}

}  // namespace ttmem::cli
