// SPDX-License-Identifier: Apache-2.0
#include "serve/http/documents.hpp"

#include <nlohmann/json.hpp>

#include "base/safe_text.hpp"
#include "show/views/job_json.hpp"
#include "text/format.hpp"

namespace ttmem::serve {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema

std::string text_of(const Json& json) { return json_text(json) + "\n"; }

Json value_of(const model::Bytes& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json point_json(const HistoryPoint& point) {
  static const auto keys = [] {
    std::array<std::pair<std::string, std::string>, kSeries.size()> names;
    for (std::size_t i = 0; i < kSeries.size(); ++i) {
      const std::string name(kSeries[i]);
      names[i] = {name + "_bytes", name + "_peak_bytes"};
    }
    return names;
  }();
  Json json = {{"time_unix_ns", point.time_unix_ns}};
  for (std::size_t i = 0; i < keys.size(); ++i) json[keys[i].first] = value_of(point.bytes[i]);
  for (std::size_t i = 0; i < keys.size(); ++i) json[keys[i].second] = value_of(point.peak[i]);
  return json;
}

Json held_json(const collector::HeldAllocation& held) {
  return {{"device", held.device},
          {"uid", held.uid != 0 ? Json(text::format_hex(held.uid)) : Json(nullptr)},
          {"kind", name_of(held.kind)},
          {"id", held.id},
          {"address", value_of(held.address)},
          {"bytes", held.bytes},
          {"used_bytes", held.used_bytes},
          {"label", text_or_null(held.label)},
          {"devices", held.devices}};
}

Json postmortem_json(const Postmortem& postmortem) {
  const collector::DeadSegment& dead = postmortem.process;
  Json largest = Json::array();
  for (const collector::HeldAllocation& held : dead.largest) largest.push_back(held_json(held));
  Json json = {{"pid", dead.pid},
               {"pid_namespace", dead.pid_namespace ? Json(*dead.pid_namespace) : Json(nullptr)},
               {"name", text_or_null(dead.name)},
               {"command", text_or_null(dead.command)},
               {"user", text_or_null(dead.user)},
               {"found_unix_ns", postmortem.found_unix_ns},
               {"removed", postmortem.removed}};
  for (const Kind kind : kDeviceKinds) {
    json[std::string(key_of(kind)) + "_bytes"] =
        value_of(dead.kinds[kind].get(&KindFigures::used_bytes));
  }
  json["allocations"] = value_of(live_allocations(dead.kinds));
  json["largest"] = std::move(largest);
  views::add_job(dead.job, json);
  return json;
}

}  // namespace

std::string history_json(const HistoryRange& range, std::string_view directory) {
  Json points = Json::array();
  for (const HistoryPoint& point : range.points) points.push_back(point_json(point));
  return text_of({{"schema", "ttmem.history.v1"},
                  {"device", range.id},
                  {"uid", range.uid ? Json(text::format_hex(*range.uid)) : Json(nullptr)},
                  {"directory_id", directory.empty() ? Json(nullptr) : Json(directory)},
                  {"interval_seconds", range.interval_seconds},
                  {"points", std::move(points)}});
}

std::string postmortems_json(const Postmortems& postmortems, std::uint64_t time_unix_ns,
                             std::string_view host) {
  Json list = Json::array();
  for (auto it = postmortems.list().rbegin(); it != postmortems.list().rend(); ++it) {
    list.push_back(postmortem_json(*it));
  }
  return text_of({{"schema", "ttmem.postmortems.v1"},
                  {"time_unix_ns", time_unix_ns},
                  {"host", host},
                  {"total", postmortems.total()},
                  {"postmortems", std::move(list)}});
}

std::string warnings_part(const model::Snapshot& snapshot) {
  const auto list = [](const std::vector<std::string>& sentences) {
    return json_text(Json(sentences));
  };
  return std::string(R"("complete":)") + (snapshot.complete() ? "true" : "false") +
         R"(,"warnings":)" + list(snapshot.warnings) + R"(,"unread":)" + list(snapshot.unread);
}

std::string json_string(std::string_view text) { return json_text(Json(text)); }

std::string error_json(std::string_view message) { return text_of({{"error", message}}); }

}  // namespace ttmem::serve
