// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/fleet_json.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/safe_text.hpp"
#include "text/json_layout.hpp"

namespace ttmem::fleet {
namespace {

using OrderedJson = nlohmann::ordered_json;  // keeps the keys in the order of the schema

template <typename T>
OrderedJson value_of(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

OrderedJson memory_json(const Sum& used, const Sum& capacity) {
  return {{"used_bytes", value_of(used.bytes)},
          {"capacity_bytes", value_of(capacity.bytes)},
          {"complete", used.complete && capacity.complete}};
}

OrderedJson l1_json(const Sum& used, const Sum& capacity) {
  OrderedJson json = memory_json(used, capacity);
  json["estimate"] = used.estimate;
  return json;
}

OrderedJson host_json(const Host& host) {
  const bool answered = !host.fault;
  OrderedJson json = {
      {"address", host.address},
      {"name", text_or_null(host.name)},
      {"answer", answered ? "ok" : name_of(host.fault->kind)},
      {"reason", answered ? OrderedJson(nullptr) : OrderedJson(host.fault->reason)},
      {"next_step", answered ? OrderedJson(nullptr) : OrderedJson(host.fault->next_step)},
      {"complete", answered && host.complete.value_or(false)},
      {"devices", value_of(host.devices)}};
  OrderedJson dram = memory_json(host.dram_used, host.dram_capacity);
  dram["least_free_bytes"] = value_of(host.dram_left.bytes);
  dram["least_free_device"] = text_or_null(host.dram_left.device);
  json["dram"] = std::move(dram);
  json["l1"] = l1_json(host.l1_used, host.l1_capacity);
  json["headroom_bytes_per_core"] = value_of(host.headroom.bytes);
  json["headroom_device"] = text_or_null(host.headroom.device);
  json["processes"] = value_of(host.processes);
  json["untracked_processes"] = value_of(host.untracked);
  json["dead_processes"] = value_of(host.dead);
  json["dead_processes_total"] = value_of(host.died);
  json["warnings_count"] = value_of(host.warning_count);
  json["warnings"] = host.warnings;
  return json;
}

OrderedJson job_json(const FleetJob& job) {
  return {{"job", text_or_null(job.job)},
          {"hosts", job.hosts},
          {"processes", job.processes},
          {"dram_bytes", value_of(job.dram.bytes)},
          {"l1_bytes", value_of(job.l1.bytes)},
          {"trace_bytes", value_of(job.trace.bytes)},
          {"l1_estimate", job.l1.estimate},
          {"complete", job.dram.complete && job.l1.complete && job.trace.complete},
          {"headroom_bytes_per_core", value_of(job.headroom.bytes)},
          {"headroom_host", text_or_null(job.headroom_host)},
          {"headroom_device", text_or_null(job.headroom.device)}};
}

template <typename Items, typename Make>
OrderedJson list_of(const Items& items, Make&& make) {
  OrderedJson list = OrderedJson::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

}  // namespace

std::string fleet_json(const Fleet& fleet, views::JsonLayout layout) {
  const Total& total = fleet.total;
  const OrderedJson document = {{"schema", "ttmem.fleet.v1"},
                                {"time_unix_ns", fleet.time_unix_ns},
                                {"host", fleet.host},
                                {"prometheus", text_or_null(fleet.prometheus)},
                                {"complete", fleet.complete()},
                                {"total",
                                 {{"hosts", fleet.hosts.size()},
                                  {"answered", total.answered},
                                  {"devices", value_of(total.devices.count)},
                                  {"devices_complete", total.devices.complete},
                                  {"processes", value_of(total.processes.count)},
                                  {"processes_complete", total.processes.complete},
                                  {"dram", memory_json(total.dram_used, total.dram_capacity)},
                                  {"l1", l1_json(total.l1_used, total.l1_capacity)}}},
                                {"hosts", list_of(fleet.hosts, host_json)},
                                {"jobs", list_of(fleet.jobs, job_json)},
                                {"warnings", fleet.warnings},
                                {"unread", fleet.unread}};
  return json_text(document, text::indent_of(layout)) + "\n";
}

}  // namespace ttmem::fleet
