// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/pct_string_view.hpp>

#include "base/parse_number.hpp"
#include "views/format.hpp"

namespace ttmem::server {
namespace {

constexpr std::size_t kMostItems = 1024;

// Not urls::parse_query(): it refuses a | or an é that is not escaped, and we name the parameter.
std::optional<std::string> decode(std::string_view text, bool plus_is_blank) {
  const auto escaped = boost::urls::make_pct_string_view(text);
  if (!escaped) return std::nullopt;
  return escaped->decode({plus_is_blank});
}

// Removes the part up to and including `separator` from the front, and returns it without it.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

Result<void> parse_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    std::string_view pair = take(text, '&');
    if (pair.empty()) continue;
    const auto name = decode(take(pair, '='), true);
    const auto value = decode(pair, true);
    if (!name || !value) return Error{"the query has a % without two hex digits; write %25 for %"};
    if (!target.query.emplace(*name, *value).second) {
      return Error{fmt::format("the parameter {} is given twice; give it once", *name)};
    }
  }
  return {};
}

// The items of a list such as "0,3", at most kMostItems.
template <typename Item, typename Parse>
Result<std::vector<Item>> list_in(const Target& target, const char* name, Parse parse,
                                  const char* of_what) {
  std::vector<Item> items;
  const auto given = target.query.find(name);
  if (given == target.query.end()) return items;
  std::string_view rest = given->second;
  do {
    const std::optional<Item> item = parse(take(rest, ','));
    if (!item || items.size() == kMostItems) {
      return Error{fmt::format("{}={} is not a list of {}", name, given->second, of_what)};
    }
    items.push_back(*item);
  } while (!rest.empty());
  return items;
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  Target target;
  constexpr std::string_view scheme = "http://";
  if (text.starts_with(scheme)) {
    text.remove_prefix(scheme.size());
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    target.authority = std::string(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.starts_with('/')) target.path = "/";
  } else if (!text.starts_with('/')) {
    return Error{"the target does not begin with /; ask for example for /metrics"};
  }
  text = text.substr(0, text.find('#'));
  const auto path = decode(take(text, '?'), false);
  if (!path) return Error{"the path has a % without two hex digits; write %25 for %"};
  target.path += *path;
  const Result<void> query = parse_query(text, target);
  if (!query) return query.error();
  return target;
}

Result<void> check_names(const Target& target, const std::vector<std::string>& names) {
  for (const auto& [name, value] : target.query) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string known =
        names.empty() ? "it takes none" : "it takes " + views::join(names, ", ");
    return Error{fmt::format("{} has no parameter {}; {}", target.path, name, known)};
  }
  return {};
}

Result<std::vector<std::uint32_t>> devices_in(const Target& target) {
  return list_in<std::uint32_t>(
      target, "device", [](std::string_view text) { return parse_number<std::uint32_t>(text); },
      "device numbers; write for example device=0 or device=0,3");
}

Result<std::vector<Kind>> kinds_in(const Target& target) {
  return list_in<Kind>(target, "kind", kind_named,
                       "dram, l1, l1_small, trace, kernel, cb, system; write for example kind=dram "
                       "or kind=l1,cb");
}

Result<std::optional<std::uint64_t>> number_in(const Target& target, const std::string& name,
                                               std::uint64_t most) {
  const auto given = target.query.find(name);
  if (given == target.query.end()) return std::optional<std::uint64_t>();
  const auto value = parse_number<std::uint64_t>(given->second);
  if (!value || *value == 0 || *value > most) {
    return Error{fmt::format("{}={} is not a number from 1 to {}", name, given->second, most)};
  }
  return value;
}

}  // namespace ttmem::server
