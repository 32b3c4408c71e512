// SPDX-License-Identifier: Apache-2.0
#include "show/views/brief_json.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/safe_text.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
void add(const char* key, const std::optional<T>& value, Json& json) {
  if (value) json[key] = *value;
}

void add(const char* key, const std::string& text, Json& json) {
  if (!text.empty()) json[key] = text;
}

Json process_of(const model::Process& process) {
  Json json = {
      {"pid", process.pid}, {"segment", process.segment}, {"state", name_of(process.state)}};
  for (const Kind kind : kDeviceKinds) {
    const std::string key = std::string(key_of(kind)) + "_bytes";
    add(key.c_str(), process.used(kind), json);
  }
  add("kernels_estimated_bytes", process.kernels_estimated_bytes, json);
  add("cb_estimate", process.cb_estimate, json);
  add("not_tracked", process.not_tracked, json);
  if (!process.may_hold) json["may_hold"] = false;
  add("job", process.job.id, json);
  add("pod", process.job.pod, json);
  add("namespace", process.job.pod_namespace, json);
  return json;
}

Json l1_of(const model::Device& device) {
  Json json = Json::object();
  add("used_bytes", device.l1_used_bytes, json);
  add("capacity_bytes", device.l1_capacity_bytes, json);
  add("headroom_bytes_per_core", device.headroom_bytes_per_core, json);
  add("kernels_estimated_bytes", device.kernels_estimated_bytes, json);
  if (device.cb_estimate) json["cb"] = {{"estimate", *device.cb_estimate}};
  return json;
}

}  // namespace

std::string brief_figures_json(const model::Device& device) {
  Json json = {{"id", device.id}, {"ids", device.ids}, {"complete", device.complete}};
  if (device.uid) json["uid"] = text::format_hex(*device.uid);
  if (const model::Bytes used = device.used(Kind::dram)) {
    json["kinds"] = Json::array({Json{{"kind", name_of(Kind::dram)}, {"used_bytes", *used}}});
  }
  if (device.dram_capacity_bytes) json["dram"] = {{"capacity_bytes", *device.dram_capacity_bytes}};
  json["l1"] = l1_of(device);
  Json processes = Json::array();
  for (const model::Process& process : device.processes) processes.push_back(process_of(process));
  json["processes"] = std::move(processes);
  return json_text(json);
}

}  // namespace ttmem::views
