// SPDX-License-Identifier: Apache-2.0
#include "show/views/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/safe_text.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using model::Check;
using Status = Check::Status;

struct Words {
  std::string_view json;
  std::string_view text;
  text::Color color;
};

const Words& words_of(Status status) {
  static constexpr std::array<Words, 4> words = {{{"ok", "ok", text::Color::green},
                                                  {"note", "-", text::Color::dim},
                                                  {"warning", "warn", text::Color::yellow},
                                                  {"failure", "FAIL", text::Color::red}}};
  return words[static_cast<std::size_t>(status)];
}

std::size_t count_of(const std::vector<Check>& checks, Status status) {
  return static_cast<std::size_t>(std::count_if(
      checks.begin(), checks.end(), [&](const Check& check) { return check.status == status; }));
}

std::string verdict(const std::vector<Check>& checks, const text::TextOptions& options) {
  const std::size_t failures = count_of(checks, Status::failure);
  const std::size_t warnings = count_of(checks, Status::warning);
  if (failures > 0) {
    return text::wrapped(plural(failures, "thing prevents", "things prevent") + " measuring.", 0,
                         text::Color::red, options);
  }
  if (warnings > 0) {
    return text::wrapped("Nothing prevents measuring; " +
                             plural(warnings, "thing is worth a look.", "things are worth a look."),
                         0, text::Color::yellow, options);
  }
  return text::wrapped("Nothing prevents measuring.", 0, text::Color::green, options);
}

}  // namespace

bool all_well(const std::vector<Check>& checks) { return count_of(checks, Status::failure) == 0; }

std::string checks_text(const std::vector<Check>& checks, const text::TextOptions& options) {
  constexpr std::size_t name_at = 6;
  constexpr std::size_t found_at = 21;
  std::string text;
  for (const Check& check : checks) {
    const Words& words = words_of(check.status);
    const std::string label =
        fmt::format("{:<{}}{:<{}}", words.text, name_at, check.name, found_at - name_at);
    const text::Color color = check.status == Status::good || check.status == Status::note
                                  ? text::Color::plain
                                  : words.color;
    text += text::wrapped(text::printable(check.found, options.unicode), found_at, color, options,
                          label);
    if (check.advice.empty()) continue;
    text += text::wrapped(text::printable(check.advice, options.unicode), found_at,
                          text::Color::bold, options, fmt::format("{:>{}}", "-> ", found_at));
  }
  return text + "\n" + verdict(checks, options);
}

std::string checks_json(const std::vector<Check>& checks) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"name", check.name},
                    {"status", words_of(check.status).json},
                    {"found", check.found},
                    {"advice", check.advice.empty() ? Json(nullptr) : Json(check.advice)}});
  }
  const Json root = {{"schema", "ttmem.doctor.v1"}, {"ok", all_well(checks)}, {"checks", list}};
  return json_text(root, 2) + "\n";
}

}  // namespace ttmem::views
