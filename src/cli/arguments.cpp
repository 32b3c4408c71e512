// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.hpp"
#include "text/nearest.hpp"
#include "text/typed_lists.hpp"

namespace ttmem::cli {
namespace {

constexpr std::uint32_t kMaxPositive = 1'000'000;

}  // namespace

Result<std::vector<model::DeviceName>> parse_devices(const std::string& text) {
  return parse_for("--device", text::parse_devices)(text);
}

Result<std::vector<Kind>> parse_kinds(const std::string& text) {
  return parse_for("--kind", text::parse_kinds)(text);
}

Result<double> parse_positive(std::string_view option, const std::string& text) {
  const auto value = parse_number<double>(text);
  if (value && *value > 0 && *value <= kMaxPositive) return *value;
  return Error{fmt::format("{} {}: must be a number above 0 and at most {}, for example {} 0.5",
                           option, text, kMaxPositive, option)};
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

std::string unknown_command(std::string_view word, const std::vector<std::string>& commands) {
  const std::string near = text::nearest(word, commands);
  return fmt::format("unknown command '{}'; {}", word,
                     near.empty() ? "see ttmem --help" : "did you mean " + near + "?");
}

}  // namespace ttmem::cli
