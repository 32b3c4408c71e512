// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.hpp"

namespace ttmem::cli {
namespace {

constexpr std::uint32_t kMostDevicesInARange = 1024;
constexpr std::uint32_t kMostPositive = 1'000'000;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_devices(const std::string& text) {
  const Error wrong{fmt::format(
      "--device {}: not a list of device numbers; write for example --device 0,3 or 0-3", text)};
  std::vector<std::uint32_t> ids;
  for (const std::string_view part : split(text)) {
    const std::size_t dash = part.find('-');
    const auto first = parse_number<std::uint32_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<std::uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first) return wrong;
    if (*last - *first >= kMostDevicesInARange) {
      return Error{fmt::format("--device {}: a range may have at most {} devices", text,
                               kMostDevicesInARange)};
    }
    for (std::uint32_t i = 0; i <= *last - *first; ++i) ids.push_back(*first + i);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Result<std::vector<Kind>> parse_kinds(const std::string& text) {
  std::vector<Kind> kinds;
  for (const std::string_view part : split(text)) {
    const std::optional<Kind> kind = kind_named(part);
    if (!kind) {
      std::string names;
      for (const Kind each : kAllKinds) {
        names += (names.empty() ? "" : ", ") + std::string(name_of(each));
      }
      return Error{
          fmt::format("--kind {}: there is no kind '{}'; the kinds are {}", text, part, names)};
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

Result<double> parse_positive(std::string_view option, const std::string& text) {
  const auto value = parse_number<double>(text);
  if (value && *value > 0 && *value <= kMostPositive) return *value;
  return Error{fmt::format("{} {}: must be a number above 0 and at most {}, for example {} 0.5",
                           option, text, kMostPositive, option)};
}

Result<std::uint64_t> parse_count(std::string_view option, const std::string& text) {
  const auto value = parse_number<std::uint64_t>(text);
  if (value && *value > 0) return *value;
  return Error{fmt::format("{} {}: must be a whole number above 0, for example {} 100", option,
                           text, option)};
}

Result<std::int32_t> parse_pid(const std::string& text) {
  const auto value = parse_number<std::int32_t>(text);
  if (value && *value > 0) return *value;
  return Error{fmt::format("--pid {}: not a process id; `ttmem` lists them under PID", text)};
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // At most two wrong letters, and less than half of the word.
  std::size_t least = std::min<std::size_t>(3, word.size() / 2 + 1);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace ttmem::cli
