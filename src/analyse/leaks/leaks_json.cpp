// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/leaks_json.hpp"

#include <nlohmann/json.hpp>

#include "base/safe_text.hpp"

namespace ttmem::leaks {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema

template <typename T>
Json value_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json leak_json(const Leak& leak) {
  return {{"kind", leak.kind ? Json(name_of(*leak.kind)) : Json(nullptr)},
          {"scope", leak.scope},
          {"label", leak.label},
          {"shared", leak.shared},
          {"process", leak.process},
          {"pid", leak.pid},
          {"host_pid", leak.foreign_pid ? value_of(leak.host_pid) : Json(leak.pid)},
          {"devices", leak.devices()},
          {"bytes", leak.bytes_on.on_all()},
          {"bytes_per_device", leak.bytes_on.per_device()},
          {"count", value_of(leak.count)},
          {"oldest_age_ns", value_of(leak.age_ns)},
          {"oldest_time_ns", value_of(leak.begin_ns)}};
}

Json dead_json(const Leak& leak) {
  Json json = leak_json(leak);
  json["killed"] = value_of(leak.killed);
  return json;
}

const char* name_of_how(Outlived::How how) {
  switch (how) {
    case Outlived::How::every_time:
      return "every_time";
    case Outlived::How::sometimes:
      return "sometimes";
    case Outlived::How::once:
      break;
  }
  return "once";
}

Json outlived_json(const Outlived& outlived) {
  Json json = leak_json(outlived.what);
  const bool programs = outlived.of == Outlived::Of::programs;
  if (programs) json["bytes"] = json["bytes_per_device"] = nullptr;
  json["programs"] = programs;
  json["visits"] = outlived.visits;
  json["left_behind"] = name_of_how(outlived.how);
  return json;
}

Json growth_json(const report::Growth& growth) {
  return {{"kind", name_of(growth.kind)},
          {"scope", growth.scope},
          {"label", growth.label},
          {"program_cache", growth.all_programs},
          {"process", growth.process},
          {"pid", growth.pid},
          {"mark", growth.mark.empty() ? Json(nullptr) : Json(growth.mark)},
          {"looks", growth.marks},
          {"first_bytes", value_of(growth.first_bytes)},
          {"last_bytes", value_of(growth.last_bytes)},
          {"first_count", growth.first_count},
          {"last_count", growth.last_count},
          {"grew", growth.grew}};
}

template <typename Item>
Json list_of(const std::vector<Item>& items, Json (*convert)(const Item&)) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(convert(item));
  return list;
}

Json source_json(const Leaks& leaks) {
  return {{"file", leaks.file.empty() ? Json(nullptr) : Json(leaks.file)},
          {"complete", leaks.saw == Leaks::Saw::all},
          {"leaks", leaks.any()},
          {"dead_process", list_of(leaks.dead_process, dead_json)},
          {"closed_device", list_of(leaks.closed_device, leak_json)},
          {"growth", list_of(leaks.growth, growth_json)},
          {"outlived_scope", list_of(leaks.outlived_scope, outlived_json)},
          {"looked_at", leaks.looked_at},
          {"unknown", leaks.unknown}};
}

}  // namespace

std::string leaks_json(const std::vector<Leaks>& all, text::JsonLayout layout) {
  const Json json = {{"schema", "ttmem.leaks.v1"}, {"sources", list_of(all, source_json)}};
  return json_text(json, text::indent_of(layout)) + "\n";
}

}  // namespace ttmem::leaks
