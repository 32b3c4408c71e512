// SPDX-License-Identifier: Apache-2.0
#include "read/remote/mirror.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "read/model/shared_numbers.hpp"
#include "read/remote/json_value.hpp"
#include "read/remote/known_json.hpp"
#include "read/remote/read_device.hpp"

namespace ttmem::remote {

std::string Mirror::target() const {
  const std::string_view brief = detail_ == Detail::brief ? "brief=1" : "";
  if (!number_) return fmt::format("/api/v1/changes{}{}", brief.empty() ? "" : "?", brief);
  return fmt::format("/api/v1/changes?after={}{}{}", *number_, brief.empty() ? "" : "&", brief);
}

std::optional<Fault> Mirror::take(std::string_view json) {
  const auto keep_all = [](const std::string&, int, const Json&) { return Then::keep; };
  const Answer<Json> parsed = parse_known(json, keep_all);
  if (parsed.failed) return parsed.fault;
  const Json& answer = parsed.value;
  if (auto fault = wrong_schema(answer, "ttmem.changes.v1")) return fault;
  if (truth_of(answer, "all").value_or(false)) {
    keys_.clear();
    snapshot_ = {};
  }
  std::map<std::string, model::Device> known;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    known[keys_[i]] = std::move(snapshot_.devices[i]);
  }
  if (const Json& changed = member(answer, "devices"); changed.is_array()) {
    for (const Json& entry : changed) {
      known[text_of(entry, "key")] = read_device(member(entry, "device"));
    }
  }
  if (member(answer, "present").is_array()) keys_ = texts_of(answer, "present");
  snapshot_.devices.clear();
  std::vector<std::string> found;
  for (std::string& key : keys_) {
    const auto node = known.extract(key);
    if (node.empty()) continue;  // the device was never described, or is named twice
    snapshot_.devices.push_back(std::move(node.mapped()));
    found.push_back(std::move(key));
  }
  keys_ = std::move(found);
  model::mark_shared_numbers(snapshot_.devices);
  number_ = number_of<std::uint64_t>(answer, "number");
  died_ = number_of<std::uint64_t>(answer, "dead_processes_total");
  snapshot_.time_unix_ns = number_or_zero<std::uint64_t>(answer, "time_unix_ns");
  if (member(answer, "host").is_string()) snapshot_.host = text_of(answer, "host");
  if (member(answer, "warnings").is_array()) {
    snapshot_.warnings = texts_of(answer, "warnings");
    snapshot_.unread = texts_of(answer, "unread");
  }
  return std::nullopt;
}

}  // namespace ttmem::remote
