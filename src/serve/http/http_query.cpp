// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/pct_string_view.hpp>

#include "base/parse_number.hpp"
#include "text/format.hpp"
#include "text/typed_lists.hpp"

namespace ttmem::serve {
namespace {

// Decodes an escaped text. Does not use boost::urls::parse_query(), because that function refuses
// an unescaped | or é, and its errors do not name the parameter.
std::optional<std::string> decode(std::string_view text, bool plus_is_blank) {
  const auto escaped = boost::urls::make_pct_string_view(text);
  if (!escaped) return std::nullopt;
  return escaped->decode({plus_is_blank});
}

// Removes the text up to and including the first `separator` from `rest`, and returns the part
// before the separator. If `rest` has no separator, removes and returns all of it.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

Result<void> parse_query(std::string_view text, RequestTarget& target) {
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

// Returns the parsed list of a parameter, or an empty list if the parameter is missing.
template <typename Item>
Result<std::vector<Item>> list_in(const RequestTarget& target, const char* name,
                                  Result<std::vector<Item>> (*parse)(std::string_view)) {
  const auto given = target.query.find(name);
  if (given == target.query.end()) return std::vector<Item>();
  auto items = parse(given->second);
  if (items) return items;
  return Error{fmt::format("{}={}: {}", name, given->second, items.error().message)};
}

}  // namespace

Result<RequestTarget> parse_target(std::string_view text) {
  RequestTarget target;
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

Result<void> check_names(const RequestTarget& target, const std::vector<std::string>& names) {
  for (const auto& [name, value] : target.query) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string known =
        names.empty() ? "it takes none" : "it takes " + text::join(names, ", ");
    return Error{fmt::format("{} has no parameter {}; {}", target.path, name, known)};
  }
  return {};
}

Result<std::vector<model::DeviceName>> devices_in(const RequestTarget& target) {
  return list_in(target, "device", text::parse_device_keys);
}

Result<std::optional<model::DeviceName>> device_in(const RequestTarget& target,
                                                   const std::string& name) {
  auto devices = list_in(target, name.c_str(), text::parse_device_keys);
  if (!devices) return devices.error();
  if (devices->empty()) return std::optional<model::DeviceName>();
  if (devices->size() > 1) {
    return Error{fmt::format("{}: at most one device; write for example {}=0", name, name)};
  }
  return std::optional(std::move(devices->front()));
}

Result<std::vector<Kind>> kinds_in(const RequestTarget& target) {
  return list_in(target, "kind", text::parse_kinds);
}

Result<std::optional<std::uint64_t>> number_in(const RequestTarget& target, const std::string& name,
                                               std::uint64_t most, std::uint64_t least) {
  const auto given = target.query.find(name);
  if (given == target.query.end()) return std::optional<std::uint64_t>();
  const auto value = parse_number<std::uint64_t>(given->second);
  if (!value || *value < least || *value > most) {
    return Error{
        fmt::format("{}={} is not a number from {} to {}", name, given->second, least, most)};
  }
  return value;
}

}  // namespace ttmem::serve
