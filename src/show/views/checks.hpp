// SPDX-License-Identifier: Apache-2.0
//
// The output of `ttmem doctor`. Pure, safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "read/model/check.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns true if no check failed: ttmem can measure on this machine.
[[nodiscard]] bool all_well(const std::vector<model::Check>& checks);

// Returns a line per check, with the advice below the line, and a verdict at the end.
[[nodiscard]] std::string checks_text(const std::vector<model::Check>& checks,
                                      const text::TextOptions& options);
// Returns the checks in schema ttmem.doctor.v1.
[[nodiscard]] std::string checks_json(const std::vector<model::Check>& checks);

}  // namespace ttmem::views
