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

// How many letters are wrong, missing, too many, or exchanged with the next.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        best[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = best[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best[i][j] = std::min({replaced, best[i - 1][j] + 1, best[i][j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) best[i][j] = std::min(best[i][j], best[i - 2][j - 2] + 1);
    }
  }
  return best[a.size()][b.size()];
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

std::string unknown_command(std::string_view word, const std::vector<std::string>& commands) {
  const std::string near = nearest(word, commands);
  return fmt::format("unknown command '{}'; {}", word,
                     near.empty() ? "see ttmem --help" : "did you mean " + near + "?");
}

}  // namespace ttmem::cli
