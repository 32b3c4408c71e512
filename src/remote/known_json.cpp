// SPDX-License-Identifier: Apache-2.0
#include "remote/known_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/job.hpp"
#include "base/kinds.hpp"
#include "base/parse_number.hpp"
#include "model/figure_names.hpp"
#include "remote/json_value.hpp"

namespace ttmem::remote {
namespace {

constexpr std::array kNames = {
    // documents
    "schema", "time_unix_ns", "host", "complete", "devices", "allocations", "programs", "warnings",
    "unread", "number", "all", "lists", "present", "cores", "key", "device", "dead_processes_total",
    // devices
    "id", "ids", "uid", "other_uids", "arch", "board", "grid", "x", "y", "bus_id", "temperature_c",
    "power_w", "aiclk_mhz", "state", "driver_number", "card_chips", "open_in", "open_seen_in",
    "untracked_processes", "capacities_from", "dram", "l1", "trace", "kinds", "kind", "channels",
    "capacity_bytes", "free_bytes_per_bank", "largest_free_bytes_per_bank", "bytes_per_core",
    "base_address", "small_region_bytes_per_core", "buffers", "lockstep_bytes",
    "small_lockstep_bytes", "small_free_bytes_per_bank", "small_largest_free_bytes_per_bank", "cb",
    "resident_bytes", "estimate", "kernels_persistent_bytes", "kernels_estimated_bytes",
    "headroom_bytes_per_core", "anomalies", "unknown_frees", "allocs_over_live",
    "overlapping_buffers", "unknown_programs", "bad_arguments", "left_at_close",
    "left_at_close_bytes", "processes", "per_core", "cb_bytes", "cb_resident_bytes", "l1_bytes",
    "l1_data_bytes", "headroom_bytes",
    // processes
    "pid", "name", "user", "source", "cb_estimate", "command", "host_pid", "pid_namespace",
    "device_supposed", "not_tracked", "may_hold", "foreign_pid", "segment",
    // allocations and programs
    "device_index", "device_indexes", "address", "bytes", "physical_bytes", "bytes_per_bank",
    "banks", "age_ns", "persistent", "label", "scope", "own_banks", "left_out", "program",
    "exclusive_bytes", "resident_cores", "cbs", "global"};

std::unordered_set<std::string> all_names() {
  std::unordered_set<std::string> names(kNames.begin(), kNames.end());
  for (const std::string_view name : model::kFigureNames) names.emplace(name);
  for (const JobField& field : kJobFields) names.emplace(field.name);
  for (const Kind kind : kDeviceKinds) names.insert(std::string(key_of(kind)) + "_bytes");
  return names;
}

}  // namespace

bool is_known(const std::string& name) {
  static const std::unordered_set<std::string> names = all_names();
  return names.contains(name);
}

std::optional<Fault> wrong_schema(const nlohmann::json& document, std::string_view schema) {
  const std::string found = text_of(document, "schema");
  if (found == schema) return std::nullopt;
  const std::string_view family = schema.substr(0, schema.rfind('v') + 1);
  const bool other_version =
      found.starts_with(family) &&
      parse_number<std::uint32_t>(std::string_view(found).substr(family.size())).has_value();
  if (other_version) {
    return Fault{Fault::Kind::newer, fmt::format("it speaks {}, this ttmem {}", found, schema),
                 "install the ttmem of that host here"};
  }
  return Fault{Fault::Kind::not_ttmem, "what answers there is not `ttmem serve`",
               "check the address and the port (9488 unless --http says another)"};
}

}  // namespace ttmem::remote
