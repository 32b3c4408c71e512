// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.hpp"
#include "views/typed_lists.hpp"

namespace ttmem::cli {
namespace {

constexpr std::uint32_t kMostPositive = 1'000'000;

// What is wrong with the value of `option`.
Error named(std::string_view option, const std::string& text, const Error& wrong) {
  return {fmt::format("{} {}: {}", option, text, wrong.message)};
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
  auto devices = views::parse_devices(text);
  if (!devices) return named("--device", text, devices.error());
  return devices;
}

Result<std::vector<Kind>> parse_kinds(const std::string& text) {
  auto kinds = views::parse_kinds(text);
  if (!kinds) return named("--kind", text, kinds.error());
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
