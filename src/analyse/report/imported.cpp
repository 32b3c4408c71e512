// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/imported.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/safe_text.hpp"

namespace ttmem::report {

std::vector<std::pair<std::string, Bytes>> imported_figures(const std::string& json) {
  std::vector<std::pair<std::string, Bytes>> figures;
  const auto parsed = nlohmann::ordered_json::parse(json, nullptr, false);
  if (!parsed.is_object()) return figures;
  for (const auto& [name, value] : parsed.items()) {
    if (value.is_number_unsigned()) {
      figures.emplace_back(safe_text(name), value.get<std::uint64_t>());
    } else if (value.is_null()) {
      figures.emplace_back(safe_text(name), std::nullopt);
    }
  }
  return figures;
}

}  // namespace ttmem::report
