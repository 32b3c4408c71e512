// SPDX-License-Identifier: Apache-2.0
//
// What `ttmem doctor` prints. Pure, safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "read/model/check.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// True if nothing prevents measuring.
[[nodiscard]] bool all_well(const std::vector<model::Check>& checks);

// A line for each, what to do below it, and a verdict at the end.
[[nodiscard]] std::string checks_text(const std::vector<model::Check>& checks,
                                      const text::TextOptions& options);
// Schema ttmem.doctor.v1.
[[nodiscard]] std::string checks_json(const std::vector<model::Check>& checks);

}  // namespace ttmem::views
