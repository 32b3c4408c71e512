// SPDX-License-Identifier: Apache-2.0
#include "text/typed_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/parse_number.hpp"
#include "text/format.hpp"

namespace ttmem::text {
namespace {

constexpr std::uint32_t kMaxDevicesInARange = 1024;

// Parses a uid such as "0x1f00a". Returns nullopt for any other text.
std::optional<std::uint64_t> parse_uid(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  std::uint64_t uid = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + 2, end, uid, 16);
  return error == std::errc() && at == end && uid != 0 ? std::optional(uid) : std::nullopt;
}

// Returns true for a PCI address with its domain, "0000:01:00.0", or without, "01:00.0".
bool is_bus_id(std::string_view text) {
  if (text.size() == 12 && text[4] == ':') text.remove_prefix(5);
  constexpr std::string_view form = "hh:hh.h";
  return text.size() == form.size() &&
         std::equal(text.begin(), text.end(), form.begin(), [](char c, char as) {
           return as == 'h' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == as;
         });
}

// Returns the architecture name with its escapes, such as %2c, decoded. Returns nullopt if an
// escape is invalid.
std::optional<std::string> unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text.front() != '%') {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(1, 2);
    const char* end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, byte, 16);
    if (digits.size() != 2 || error != std::errc() || at != end) return std::nullopt;
    plain += static_cast<char>(byte);
    text.remove_prefix(3);
  }
  return plain;
}

// Parses a key from key_of_number() that contains an architecture. Returns nullopt for any other
// text.
std::optional<model::DeviceName> parse_key_of_number(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto number = parse_number<std::uint32_t>(text.substr(0, colon));
  if (colon == std::string_view::npos || !number) return std::nullopt;
  model::DeviceName name(*number);
  name.arch = unescape(text.substr(colon + 1));
  const bool is_key = name.arch && key_of_number(*number, *name.arch) == text;
  return is_key ? std::optional(std::move(name)) : std::nullopt;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<model::DeviceName>> parse_devices(std::string_view text) {
  std::vector<model::DeviceName> names;
  for (const std::string_view part : split(text)) {
    if (const auto uid = parse_uid(part)) {
      names.push_back(model::name_of_uid(*uid));
      continue;
    }
    if (is_bus_id(part)) {
      names.emplace_back().bus_id = part;
      continue;
    }
    const std::size_t dash = part.find('-');
    const auto first = parse_number<std::uint32_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<std::uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return Error{
          "not a list of devices; write for example 0,3 or 0-3, a uid as 0x1f00a, or a PCI address "
          "as "
          "0000:01:00.0"};
    }
    if (*last - *first >= kMaxDevicesInARange) {
      return Error{fmt::format("a range may have at most {} devices", kMaxDevicesInARange)};
    }
    for (std::uint32_t i = 0; i <= *last - *first; ++i) names.emplace_back(*first + i);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<std::vector<model::DeviceName>> parse_device_keys(std::string_view text) {
  if (auto name = parse_key_of_number(text)) return std::vector{std::move(*name)};
  return parse_devices(text);
}

Result<std::vector<Kind>> parse_kinds(std::string_view text) {
  std::vector<Kind> kinds;
  for (const std::string_view part : split(text)) {
    const std::optional<Kind> kind = kind_named(part);
    if (!kind) {
      std::vector<std::string> names;
      names.reserve(kAllKinds.size());
      for (const Kind each : kAllKinds) names.emplace_back(name_of(each));
      return Error{fmt::format("there is no kind '{}'; the kinds are {}", part, join(names, ", "))};
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

}  // namespace ttmem::text
