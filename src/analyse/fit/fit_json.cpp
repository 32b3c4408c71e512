// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/fit_json.hpp"

#include <nlohmann/json.hpp>

#include "analyse/explain/explanation_json.hpp"
#include "analyse/fit/explanation.hpp"
#include "analyse/fit/names.hpp"
#include "base/safe_text.hpp"

namespace ttmem::fit {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema

Json text_of(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
template <typename T>
Json value_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json json_bytes(const std::optional<report::Extreme>& extreme) {
  return extreme ? Json(extreme->bytes) : Json(nullptr);
}
Json json_time(const std::optional<report::Extreme>& extreme) {
  return extreme ? Json(extreme->time_ns) : Json(nullptr);
}

Json peak(const std::optional<report::Extreme>& extreme) {
  return {{"peak_bytes", json_bytes(extreme)}, {"peak_time_ns", json_time(extreme)}};
}

Json with_free(Json json, const std::optional<report::Extreme>& free,
               const std::optional<std::uint64_t>& capacity) {
  json["largest_free_min_bytes_per_bank"] = json_bytes(free);
  json["largest_free_min_time_ns"] = json_time(free);
  json["capacity_bytes"] = value_of(capacity);
  return json;
}

Json device_json(const report::DeviceReport& device) {
  return {{"id", device.id},
          {"dram", with_free(peak(device.peak[Kind::dram]), device.least_largest_free[Kind::dram],
                             device.dram_capacity)},
          {"l1", with_free(peak(device.l1_peak), device.least_largest_free[Kind::l1],
                           device.l1_capacity)},
          {"cb", peak(device.peak[Kind::cb])},
          {"l1_buffers", peak(device.peak[Kind::l1])},
          {"l1_small", peak(device.peak[Kind::l1_small])},
          {"trace", peak(device.peak[Kind::trace])},
          {"headroom_min_bytes_per_core", json_bytes(device.least_headroom)},
          {"headroom_min_time_ns", json_time(device.least_headroom)}};
}

Json placed_json(const PlacedBuffer& buffer) {
  return {{"kind", ttmem::name_of(buffer.kind)},
          {"address", buffer.address},
          {"bytes_per_bank", buffer.bytes_per_bank},
          {"scope", text_of(buffer.scope)},
          {"label", text_of(buffer.label)},
          {"process", text_of(buffer.process)},
          {"since_ns", buffer.since_ns}};
}

void add_sizes(const FailedRequest& failure, Json& json) {
  if (failure.kind == Kind::cb) {
    json["program"] = failure.program;
    json["at_dispatch"] = failure.at_dispatch;
    json["cores"] = {failure.cores.x0, failure.cores.y0, failure.cores.x1, failure.cores.y1};
    json["cb_end"] = failure.cb_end;
    json["lowest_l1_address"] = failure.lowest_l1 != 0 ? Json(failure.lowest_l1) : Json(nullptr);
    json["l1_bytes_per_core"] = failure.l1_bytes;
    return;
  }
  json["bytes"] = failure.bytes;
  json["bytes_per_bank"] = failure.bytes_per_bank;
  json["bank_bytes"] = failure.bank_bytes;
  json["free_bytes_per_bank"] = failure.free_bytes;
  json["largest_free_bytes_per_bank"] = failure.largest_free_bytes;
}

Json failure_json(const FailedRequest& failure) {
  Json json = {{"cause", name_of(failure.cause)},      {"certain", failure.certain},
               {"kind", ttmem::name_of(failure.kind)}, {"time_ns", failure.time_ns},
               {"request", failure.request},           {"devices", failure.devices},
               {"scope", text_of(failure.scope)},      {"label", text_of(failure.label)},
               {"process", text_of(failure.process)}};
  add_sizes(failure, json);
  json["placed"] = Json::array();
  for (const PlacedBuffer& buffer : failure.placed) json["placed"].push_back(placed_json(buffer));
  return json;
}

Json unknown_json(const Unknown& unknown) {
  return {{"why", name_of(unknown.why)},
          {"kind", unknown.why == Why::lost ? Json(nullptr) : Json(ttmem::name_of(unknown.kind))},
          {"count", unknown.count},
          {"bytes", unknown.why == Why::lost || unknown.why == Why::not_reported
                        ? Json(nullptr)
                        : Json(unknown.bytes)}};
}

Json estimate_json(const Estimate& estimate) {
  Json json = {{"verdict", name_of(estimate.verdict)},
               {"recorded_grid", {{"x", estimate.recorded.x}, {"y", estimate.recorded.y}}},
               {"devices", Json::array()}};
  for (const auto& device : estimate.devices) json["devices"].push_back(device_json(device));
  return json;
}

Json board_json(const BoardFit& board) {
  const auto size = [&](std::uint64_t placement::MemoryMap::*field) {
    return board.opened ? Json(board.opened->map.*field) : Json(nullptr);
  };
  Json json = {
      {"board", board.board.system},
      {"arch", placement::name_of(board.board.chip.arch)},
      {"l1_small_size", size(&placement::MemoryMap::l1_small_bytes)},
      {"trace_region_size", size(&placement::MemoryMap::trace_region_bytes)},
      {"verdict", name_of(board.verdict)},
      {"requests", board.requests},
      {"largest_factor", value_of(board.largest_factor)},
      {"smallest_failing_factor", value_of(board.smallest_failing_factor)},
      {"scope_unknown", board.scope_unknown ? Json(name_of(*board.scope_unknown)) : Json(nullptr)},
      {"failure", board.failure ? failure_json(*board.failure) : Json(nullptr)},
      {"unknown", Json::array()},
      {"devices", Json::array()},
      {"estimate", board.estimate ? estimate_json(*board.estimate) : Json(nullptr)}};
  if (board.failure) json["failure"]["explanation"] = explain::to_json(explanation_of(board));
  for (const Unknown& unknown : board.unknown) json["unknown"].push_back(unknown_json(unknown));
  for (const auto& device : board.devices) json["devices"].push_back(device_json(device));
  return json;
}

}  // namespace

std::string fit_json(const std::vector<BoardFit>& boards) {
  Json json = {{"schema", "ttmem.fit.v1"}, {"boards", Json::array()}};
  for (const BoardFit& board : boards) json["boards"].push_back(board_json(board));
  return json_text(json, 2) + "\n";
}

}  // namespace ttmem::fit
