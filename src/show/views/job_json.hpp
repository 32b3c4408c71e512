// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "base/job.hpp"
#include "base/parse_number.hpp"

namespace ttmem::views {

// Adds a key to `json` for each field in kJobFields. The value of an unknown field is null.
inline void add_job(const Job& job, nlohmann::ordered_json& json) {
  for (const JobField& field : kJobFields) {
    const std::string& text = job.*field.value;
    const auto number = field.is_number ? parse_number<std::uint32_t>(text) : std::nullopt;
    nlohmann::ordered_json& value = json[std::string(field.name)];
    if (number) value = *number;
    if (!field.is_number && !text.empty()) value = text;
  }
}

}  // namespace ttmem::views
