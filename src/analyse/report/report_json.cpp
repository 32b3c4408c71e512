// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/report_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "analyse/report/holders.hpp"
#include "analyse/report/peak_ranges.hpp"
#include "analyse/report/settings.hpp"
#include "base/safe_text.hpp"

namespace ttmem::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema

Json value_of(const Bytes& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }
Json json_bytes(const std::optional<Extreme>& extreme) {
  return extreme ? Json(extreme->bytes) : Json(nullptr);
}
Json json_time(const std::optional<Extreme>& extreme) {
  return extreme ? Json(extreme->time_ns) : Json(nullptr);
}
Json text_of(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json json_of(const std::optional<std::int64_t>& bound) {
  return bound ? Json(*bound) : Json(nullptr);
}

Json figures(const std::optional<FigureRange>& range, const std::optional<Extreme>& seen,
             const Bytes& end) {
  return {{"peak_bytes", range ? json_of(range->least) : Json(nullptr)},
          {"peak_at_most_bytes", range ? json_of(range->most) : Json(nullptr)},
          {"peak_time_ns", json_time(seen)},
          {"end_bytes", value_of(end)}};
}

Json figures(const DeviceReport& device, Kind kind) {
  return figures(peak_range_of(device, kind), device.peak[kind], device.end[kind]);
}

Json with_free(Json json, const std::optional<Extreme>& free, const Bytes& capacity) {
  json["largest_free_min_bytes_per_bank"] = json_bytes(free);
  json["largest_free_min_time_ns"] = json_time(free);
  json["capacity_bytes"] = value_of(capacity);
  return json;
}

Json holder_json(const Holder& holder) {
  Json json = {{"kind", name_of(holder.kind)}, {"scope", holder.scope}, {"label", holder.label},
               {"process", holder.process},    {"bytes", holder.bytes}, {"count", holder.count}};
  if (holder.kind == Kind::cb) json["shared"] = holder.shared;
  if (holder.kind == Kind::kernel) json["persistent"] = holder.persistent;
  return json;
}

template <typename Item, typename Convert>
Json list_of(const std::vector<Item>& items, std::size_t top, Convert convert) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(top, items.size()); ++i) list.push_back(convert(items[i]));
  return list;
}

Json holders_json(const std::vector<Holder>& holders) {
  return list_of(by_name(holders), holders.size(), holder_json);
}

Json settings_json(const DeviceReport& device) {
  const Settings settings = settings_for(device);
  return {{"trace_region_size", value_of(settings.trace_region_size)},
          {"l1_small_size", value_of(settings.l1_small_size)}};
}

Json device_json(const DeviceReport& device) {
  Json trace = figures(device, Kind::trace);
  trace["region_bytes"] = value_of(device.trace_region);
  Json small = figures(device, Kind::l1_small);
  small["peak_bytes_per_core"] = value_of(device.l1_small_peak_per_core);
  small["region_bytes_per_core"] = value_of(device.l1_small_region);
  return {{"id", device.id},
          {"uid", device.uid != 0 ? Json(fmt::format("{:#x}", device.uid)) : Json(nullptr)},
          {"arch", text_of(device.arch)},
          {"board", text_of(device.board)},
          {"all_seen", device.all_seen && device.cbs_seen},
          {"dram", with_free(figures(device, Kind::dram), device.least_largest_free[Kind::dram],
                             device.dram_capacity)},
          {"l1", with_free(figures(l1_peak_range_of(device), device.l1_peak, device.l1_end),
                           device.least_largest_free[Kind::l1], device.l1_capacity)},
          {"cb", figures(device, Kind::cb)},
          {"trace", std::move(trace)},
          {"kernels", figures(device, Kind::kernel)},
          {"l1_buffers", figures(device, Kind::l1)},
          {"l1_small", std::move(small)},
          {"headroom_min_bytes_per_core", json_bytes(device.least_headroom)},
          {"headroom_min_time_ns", json_time(device.least_headroom)},
          {"settings", settings_json(device)},
          {"at_peak",
           {{"dram", holders_json(device.at_dram_peak)}, {"l1", holders_json(device.at_l1_peak)}}},
          {"held_at_end", device.held_is_known ? holders_json(device.held_at_end) : Json(nullptr)}};
}

Json churn_json(const Churn& churn) {
  return {{"kind", name_of(churn.kind)},
          {"scope", churn.scope},
          {"label", churn.label},
          {"bytes", churn.size},
          {"allocations", churn.allocations}};
}

Json growth_json(const Growth& growth) {
  return {{"kind", name_of(growth.kind)},
          {"scope", growth.scope},
          {"label", growth.label},
          {"process", growth.process},
          {"mark", growth.mark},
          {"marks", growth.marks},
          {"first_bytes", value_of(growth.first_bytes)},
          {"last_bytes", value_of(growth.last_bytes)},
          {"first_count", growth.first_count},
          {"last_count", growth.last_count},
          {"grew", growth.grew}};
}

Json trace_json(const Holder& holder) {
  return {{"kind", name_of(holder.kind)},
          {"scope", holder.scope},
          {"label", holder.label},
          {"bytes", holder.bytes},
          {"allocations", holder.count}};
}

Json failure_json(const RunFailure& failure) {
  return {{"time_ns", failure.time_ns},
          {"pid", failure.pid},
          {"process", failure.process},
          {"text", failure.text.empty() ? Json() : Json(failure.text)}};
}

// Inserts the text of each device into the empty list of devices in `report`. Makes the JSON object
// of only one device at a time, because an object takes ten times as much memory as its text.
std::string with_devices(std::string report, const std::vector<DeviceReport>& devices, int indent) {
  if (devices.empty()) return report;
  const std::string_view name = indent < 0 ? "\"devices\":[" : "\"devices\": [";
  const std::size_t at = report.find(name) + name.size();
  const std::string outer =
      indent < 0 ? "" : "\n" + std::string(static_cast<std::size_t>(indent), ' ');
  const std::string line = outer + std::string(static_cast<std::size_t>(std::max(indent, 0)), ' ');
  const std::string rest = report.substr(at);
  report.resize(at);
  for (const DeviceReport& device : devices) {
    if (&device != &devices.front()) report += ',';
    report += line;
    for (const char c : json_text(device_json(device), indent)) {
      c == '\n' ? report += line : report += c;
    }
  }
  return report += outer + rest;
}

}  // namespace

std::string report_json(const Report& report, std::size_t top, text::JsonLayout layout) {
  const int indent = text::indent_of(layout);
  Json json = {{"schema", "ttmem.report.v1"},
               {"command", report.command},
               {"duration_ns", report.duration_ns},
               {"events", report.events},
               {"lost_events", report.lost_events},
               {"gaps", report.gaps},
               {"not_tracked", report.not_tracked},
               {"complete", report.all_seen() && report.unknown_programs == 0},
               {"aggregate", report.aggregate},
               {"unknown_programs", report.unknown_programs},
               {"devices", Json::array()},
               {"leak", {{"bytes", report.leak_bytes()}, {"count", report.leak_count()}}},
               {"marks", report.marks},
               {"failures", list_of(report.failures, top, failure_json)},
               {"grew", list_of(report.growth, top, growth_json)},
               {"most_often", list_of(report.churn, top, churn_json)},
               {"while_trace_live", list_of(report.while_trace_live, top, trace_json)}};
  const Json imported = Json::parse(report.imported, nullptr, false);
  if (!report.imported.empty() && !imported.is_discarded()) json["imported"] = imported;
  return with_devices(json_text(json, indent), report.devices, indent) + "\n";
}

}  // namespace ttmem::report
