// SPDX-License-Identifier: Apache-2.0
#include "read/remote/read_snapshot.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "read/model/shared_numbers.hpp"
#include "read/remote/json_value.hpp"
#include "read/remote/known_json.hpp"
#include "read/remote/read_device.hpp"

namespace ttmem::remote {
namespace {

// Returns the cores of rectangles [x0, y0, x1, y1], or nullopt if a rectangle exceeds the grid.
std::optional<CoreMask> cores_in(const Json& list, const model::Device& device) {
  if (!list.is_array() || device.grid_x == 0) return std::nullopt;
  CoreMask mask;
  for (const Json& range : list) {
    const auto corners = list_in(range, number_in<std::uint32_t>);
    if (corners.size() != 4 || corners[2] >= device.grid_x || corners[3] >= device.grid_y) {
      return std::nullopt;
    }
    for (std::uint32_t y = corners[1]; y <= corners[3]; ++y) {
      for (std::uint32_t x = corners[0]; x <= corners[2]; ++x) mask.set(y * device.grid_x + x);
    }
  }
  return mask;
}

std::uint64_t size_of(const Json& json, const char* key) {
  return std::min(number_or_zero<std::uint64_t>(json, key), kMaxBytes);
}

model::Bytes known_size_of(const Json& json, const char* key) {
  const model::Bytes bytes = number_of<std::uint64_t>(json, key);
  return bytes && *bytes <= kMaxBytes ? bytes : std::nullopt;
}

// Reads the fields that allocations and programs share. Returns nullopt if the device is not
// listed.
template <typename Item>
std::optional<Item> item_in(const Json& json, const std::vector<model::Device>& devices) {
  const auto index = number_of<std::uint32_t>(json, "device_index");
  if (!index || *index >= devices.size()) return std::nullopt;
  Item item;
  item.device = *index;
  item.pid = number_or_zero<std::int32_t>(json, "pid");
  item.state = text_of(json, "state") == "dead" ? model::State::dead : model::State::alive;
  item.segment = number_or_zero<std::uint64_t>(json, "segment");
  item.age_ns = number_or_zero<std::uint64_t>(json, "age_ns");
  item.scope = text_of(json, "scope");
  return item;
}

std::optional<model::Allocation> allocation_in(const Json& json,
                                               const std::vector<model::Device>& devices) {
  auto a = item_in<model::Allocation>(json, devices);
  const std::optional<Kind> kind = kind_named(text_of(json, "kind"));
  if (!a || !kind) return std::nullopt;
  a->devices = list_in(member(json, "device_indexes"), number_in<std::uint32_t>);
  const bool listed = std::is_sorted(a->devices.begin(), a->devices.end()) &&
                      (a->devices.empty() ||
                       (a->devices.front() == a->device && a->devices.back() < devices.size()));
  if (!listed) return std::nullopt;
  a->kind = *kind;
  a->id = number_or_zero<std::uint64_t>(json, "id");
  a->address = number_of<std::uint64_t>(json, "address");
  a->bytes = size_of(json, "bytes");
  a->bytes_per_bank = known_size_of(json, "bytes_per_bank");
  a->physical_bytes = known_size_of(json, "physical_bytes");
  a->banks = number_of<std::uint32_t>(json, "banks");
  a->cores = cores_in(member(json, "cores"), devices[a->device]);
  a->own_banks = truth_of(json, "own_banks").value_or(false);
  a->persistent = truth_of(json, "persistent").value_or(false);
  a->estimate = truth_of(json, "estimate").value_or(false);
  a->left_out = truth_of(json, "left_out").value_or(false);
  a->label = text_of(json, "label");
  return a;
}

std::optional<model::Program> program_in(const Json& json,
                                         const std::vector<model::Device>& devices) {
  auto p = item_in<model::Program>(json, devices);
  if (!p) return std::nullopt;
  p->program = number_or_zero<std::uint64_t>(json, "program");
  p->name = text_of(json, "name");
  p->cores = number_or_zero<std::uint32_t>(json, "cores");
  p->bytes_per_core = size_of(json, "bytes_per_core");
  p->physical_bytes = size_of(json, "physical_bytes");
  p->logical_bytes = size_of(json, "logical_bytes");
  p->exclusive_bytes = size_of(json, "exclusive_bytes");
  p->resident_cores = number_or_zero<std::uint32_t>(json, "resident_cores");
  p->cbs = list_in(member(json, "cbs"), [&](const Json& cb) {
    return std::optional(model::CircularBuffer{
        number_or_zero<std::uint64_t>(cb, "address"), size_of(cb, "bytes_per_core"),
        cores_in(member(cb, "cores"), devices[p->device]).value_or(CoreMask()),
        truth_of(cb, "global").value_or(false)});
  });
  return p;
}

std::optional<model::Device> device_in(const Json& json) {
  return json.is_object() ? std::optional(read_device(json)) : std::nullopt;
}

}  // namespace

Answer<model::Snapshot> read_snapshot(std::string_view json) {
  model::Snapshot snapshot;
  // Converts each list entry as soon as it ends, so that a whole list never exists as JSON.
  const auto complete = [&](const std::string& section, int depth, const Json& value) {
    if (depth == 1 && section == "devices") {
      snapshot.devices = list_in(value, device_in);
      snapshot.allocations.clear();  // the items refer to devices that are replaced now
      snapshot.programs.clear();
      return Then::drop;
    }
    if (depth != 2 || (section != "allocations" && section != "programs")) return Then::keep;
    if (section == "allocations") {
      if (auto a = allocation_in(value, snapshot.devices)) {
        snapshot.allocations.push_back(std::move(*a));
      }
    } else if (auto p = program_in(value, snapshot.devices)) {
      snapshot.programs.push_back(std::move(*p));
    }
    return Then::drop;
  };
  const Answer<Json> parsed = parse_known(json, complete);
  if (parsed.failed) return parsed.fault;
  const Json& document = parsed.value;
  if (auto fault = wrong_schema(document, "ttmem.snapshot.v1")) return *fault;
  model::mark_shared_numbers(snapshot.devices);
  snapshot.time_unix_ns = number_or_zero<std::uint64_t>(document, "time_unix_ns");
  snapshot.host = text_of(document, "host");
  snapshot.warnings = texts_of(document, "warnings");
  snapshot.unread = texts_of(document, "unread");
  return snapshot;
}

}  // namespace ttmem::remote
