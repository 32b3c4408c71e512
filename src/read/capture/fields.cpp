// SPDX-License-Identifier: Apache-2.0
#include "read/capture/fields.hpp"

#include <fmt/core.h>

#include <utility>

namespace ttmem::capture {
namespace {

const nlohmann::json kNothing;

}  // namespace

Fields::Fields(const nlohmann::json& object) : object_(object) {
  if (!object.is_object()) refuse("not a JSON object");
}

void Fields::refuse(std::string reason) {
  if (!problem_) problem_ = std::move(reason);
}

void Fields::refuse_field(const char* name, const std::string& what) {
  refuse(fmt::format("field '{}' {}", name, what));
}

const nlohmann::json& Fields::at(const char* name) {
  if (const auto found = object_.find(name); found != object_.end()) return *found;
  refuse_field(name, "is missing");
  return kNothing;
}

std::string Fields::text(const char* name) {
  const nlohmann::json& value = at(name);
  if (value.is_string()) return value.get<std::string>();
  refuse_field(name, "is not a string");
  return {};
}

bool Fields::flag(const char* name) {
  const nlohmann::json& value = at(name);
  if (value.is_boolean()) return value.get<bool>();
  refuse_field(name, "is not true or false");
  return false;
}

std::uint64_t Fields::whole_up_to(const char* name, const nlohmann::json& value,
                                  std::uint64_t max) {
  // The JSON parser calls a number "unsigned" only if it is whole, not negative, and fits into 64
  // bits.
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= max) {
    return value.get<std::uint64_t>();
  }
  refuse_field(name, fmt::format("is not a whole number from 0 to {}", max));
  return 0;
}

std::vector<std::uint16_t> Fields::grid(const char* name) {
  std::vector<std::uint16_t> sides = list<std::uint16_t>(name, at(name));
  if (sides.size() != 2 || sides[0] == 0 || sides[1] == 0) {
    refuse_field(name, "is not [columns, rows]");
    sides.assign(2, 0);
  }
  return sides;
}

std::vector<std::uint32_t> Fields::chips(const char* name) {
  return list<std::uint32_t>(name, at(name));
}

std::vector<ttmem_core_range> Fields::cores(const char* name) {
  std::vector<ttmem_core_range> ranges;
  const nlohmann::json& rows = at(name);
  if (!rows.is_array()) {
    refuse_field(name, "is not a list");
    return ranges;
  }
  for (const nlohmann::json& row : rows) {
    const std::vector<std::uint16_t> corners = list<std::uint16_t>(name, row);
    if (corners.size() != 4 || corners[0] > corners[2] || corners[1] > corners[3]) {
      refuse_field(name, "has a row that is not [x0, y0, x1, y1] with x0 <= x1 and y0 <= y1");
      return ranges;
    }
    ranges.push_back({corners[0], corners[1], corners[2], corners[3]});
  }
  return ranges;
}

}  // namespace ttmem::capture
