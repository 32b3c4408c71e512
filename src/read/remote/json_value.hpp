// SPDX-License-Identifier: Apache-2.0
// Reads values of an untrusted JSON document. A value that is absent, of another type or out of
// range is unknown. Nothing throws. Pure functions, safe from any thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_number.hpp"

namespace ttmem::remote {

using Json = nlohmann::json;

// Returns the member of an object, or a null value if there is none.
[[nodiscard]] inline const Json& member(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

template <typename Number>
[[nodiscard]] std::optional<Number> number_in(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return std::in_range<Number>(number) ? std::optional(static_cast<Number>(number))
                                         : std::nullopt;
  }
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return std::in_range<Number>(number) ? std::optional(static_cast<Number>(number)) : std::nullopt;
}

template <typename Number>
[[nodiscard]] std::optional<Number> number_of(const Json& object, const char* key) {
  return number_in<Number>(member(object, key));
}

// Returns 0 if the number is unknown.
template <typename Number>
[[nodiscard]] Number number_or_zero(const Json& object, const char* key) {
  return number_of<Number>(object, key).value_or(0);
}

[[nodiscard]] inline std::optional<double> real_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

[[nodiscard]] inline std::optional<bool> truth_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}

[[nodiscard]] inline std::string text_in(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

// Returns an empty text if the text is unknown.
[[nodiscard]] inline std::string text_of(const Json& object, const char* key) {
  return text_in(member(object, key));
}

// Parses "0x1f00a".
[[nodiscard]] inline std::optional<std::uint64_t> hex_in(const Json& value) {
  const std::string text = text_in(value);
  if (!text.starts_with("0x")) return std::nullopt;
  return parse_number<std::uint64_t>(std::string_view(text).substr(2), 16);
}

// Returns the items of a list for which convert(item) returns a value.
template <typename Convert>
[[nodiscard]] auto list_in(const Json& list, Convert&& convert) {
  std::vector<typename decltype(convert(list))::value_type> items;
  if (!list.is_array()) return items;
  for (const Json& item : list) {
    if (auto value = convert(item)) items.push_back(std::move(*value));
  }
  return items;
}

[[nodiscard]] inline std::vector<std::string> texts_of(const Json& object, const char* key) {
  return list_in(member(object, key), [](const Json& item) {
    return item.is_string() ? std::optional(item.get<std::string>()) : std::nullopt;
  });
}

}  // namespace ttmem::remote
