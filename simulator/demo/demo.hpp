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

// In the order of --list; the default is "mesh8".
[[nodiscard]] std::vector<ScenarioInfo> scenarios();

struct DemoOptions {
  std::string scenario = "mesh8";
  std::optional<double> seconds;  // how long it runs; none: the scenario's own length
  bool hold = false;              // afterwards keep the final state until a signal
};

// Runs a scenario on the dry run's devices, in this process, tracked like any other. Prints on
// stderr when it is ready and what to type. Returns at its end, or after SIGINT, SIGTERM or SIGHUP.
// Fails when the scenario is unknown, tracking could not start, or the dry run has no room for it.
[[nodiscard]] Result<void> run(const DemoOptions& options);

}  // namespace ttmem::demo
