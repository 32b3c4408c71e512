// SPDX-License-Identifier: Apache-2.0
//
// The output of `ttmem doctor`. Pure, safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "read/model/check.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns true if no check failed, which means that ttmem can measure on this machine.
[[nodiscard]] bool all_well(const std::vector<model::Check>& checks);

// Returns one line per check, with the advice of the check below its line, and a verdict as the
// last line.
[[nodiscard]] std::string checks_text(const std::vector<model::Check>& checks,
                                      const text::TextOptions& options);
// Returns the checks as JSON in schema ttmem.doctor.v1.
[[nodiscard]] std::string checks_json(const std::vector<model::Check>& checks);

}  // namespace ttmem::views
