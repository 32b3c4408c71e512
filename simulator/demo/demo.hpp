// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ttmem::demo {

struct ScenarioInfo {
  std::string_view name;
  std::string_view summary;  // one line for --list
};

// Returns the scenarios in the order of --list. The default is "mesh8".
[[nodiscard]] std::vector<ScenarioInfo> scenarios();

struct DemoOptions {
  std::string scenario = "mesh8";
  std::optional<double> seconds;  // duration; nullopt: the scenario's default
  bool hold = false;              // keep the final state until a signal
};

// Runs a scenario on the dry run's devices in this process, which is tracked like any other
// process. When the scenario is ready, prints on stderr the command that shows the memory of this
// process. Returns at the end of the scenario, or after SIGINT, SIGTERM or SIGHUP. Fails if the
// scenario is unknown, if `seconds` is negative or too large, if tracking could not start, or if
// the dry run is out of memory.
[[nodiscard]] Result<void> run(const DemoOptions& options);

}  // namespace ttmem::demo
