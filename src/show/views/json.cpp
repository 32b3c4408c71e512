// SPDX-License-Identifier: Apache-2.0
#include "show/views/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "analyse/selection/select.hpp"
#include "base/safe_text.hpp"
#include "read/model/figure_names.hpp"
#include "show/views/device_fields.hpp"
#include "show/views/job_json.hpp"
#include "text/core_ranges.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using Json = nlohmann::ordered_json;  // the JSON type that keeps keys in the order of the schema
using model::Device;
using model::Snapshot;

template <typename T>
Json value_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename Item, typename Convert>
Json list_of(const std::vector<Item>& items, Convert&& convert) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(convert(item));
  return list;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Adds two keys. "host_pid" is the pid in the reader's pid namespace. "pid_namespace" is the
// namespace in which the key "pid" is valid.
void add_pids(const model::Process& p, Json& json) {
  json["host_pid"] = value_of(p.host_pid);
  json["pid_namespace"] = value_of(p.pid_namespace);
}

Json process_json(const model::Process& p) {
  Json json = {{"pid", p.pid == 0 ? Json(nullptr) : Json(p.pid)},
               {"name", p.name},
               {"user", p.user},
               {"state", name_of(p.state)},
               {"source", name_of(p.source)}};
  for (const Kind kind : kDeviceKinds) {
    json[std::string(key_of(kind)) + "_bytes"] = value_of(p.used(kind));
  }
  json["kernels_estimated_bytes"] = value_of(p.kernels_estimated_bytes);
  json["cb_estimate"] = value_of(p.cb_estimate);
  json["allocations"] = value_of(live_allocations(p.kinds));
  json["command"] = text_or_null(p.command);
  add_pids(p, json);
  json["device_supposed"] = p.supposed_device;
  json["not_tracked"] = text_or_null(p.not_tracked);
  json["may_hold"] = p.may_hold;
  json["foreign_pid"] = p.foreign_pid;
  json["segment"] = p.segment;
  add_job(p.job, json);
  return json;
}

template <typename Add>
void for_each_member(const model::Core& core, Add&& add) {
  add("x", std::optional(core.x));
  add("y", std::optional(core.y));
  add("cb_bytes", core.cb_bytes);
  add("cb_resident_bytes", core.cb_resident_bytes);
  add("l1_bytes", core.l1_bytes);
  add("l1_data_bytes", core.l1_data_bytes);
  add("headroom_bytes", core.headroom_bytes);
}

Json core_json(const model::Core& core) {
  Json json = Json::object();
  for_each_member(core, [&](const char* name, const auto& value) { json[name] = value_of(value); });
  return json;
}

Json json_of(const FieldValue& value) {
  const auto convert = [](const auto& held) -> Json {
    if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
      return nullptr;
    else
      return held;
  };
  return std::visit(convert, value);
}

// Returns the figures of every kind that at least one process reports.
Json kinds_of(const Device& device) {
  Json list = Json::array();
  for (const Kind kind : kAllKinds) {
    const KindFigures& figures = device.kinds[kind];
    if (figures.known == 0) continue;
    Json entry = {{"kind", name_of(kind)}};
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      entry[std::string(model::kFigureNames[i])] = value_of(figures.get(kFigures[i].value));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Json figures_of(const Device& device) {
  Json json;
  for (const DeviceField& field : device_fields()) {
    if (field.path.empty()) continue;
    json[Json::json_pointer("/" + std::string(field.path))] = json_of(field.value(device));
  }
  if (device.grid_x == 0 || device.grid_y == 0) json["grid"] = nullptr;
  json["ids"] = device.ids;
  json["other_uids"] = list_of(device.other_uids, text::format_hex);
  json["open_in"] = device.holders_known ? Json(device.holders) : Json(nullptr);
  json["open_seen_in"] = device.holders;
  json["kinds"] = kinds_of(device);
  json["processes"] = list_of(device.processes, process_json);
  return json;
}

Json device_json(const Device& device) {
  Json json = figures_of(device);
  json["per_core"] = list_of(device.cores, core_json);
  return json;
}

// Returns an object with only the fields that identify the device.
Json identity_json(const Device& device) {
  Json json;
  for (const std::string_view column : kIdentityColumns) {
    const DeviceField& field = field_of_column(column);
    json[std::string(field.path)] = json_of(field.value(device));
  }
  return json;
}

std::string line_of(const Json& json) { return json_text(json); }

// Writes a JSON object member by member. For a list of a million entries, a JSON value of the whole
// object would take ten times as much memory as the text.
class Document {
 public:
  explicit Document(JsonLayout layout) : pretty_(layout == JsonLayout::pretty) {}

  void add(std::string_view key, const Json& value) {
    begin_member(key);
    write(value, 1);
  }
  template <typename Item, typename Convert>
  void add_list(std::string_view key, const std::vector<Item>& items, Convert&& convert) {
    begin_member(key);
    text_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ',';
      new_line(2);
      write(convert(items[i]), 2);
    }
    if (!items.empty()) new_line(1);
    text_ += ']';
  }
  std::string end() {
    new_line(0);
    return std::move(text_) + "}\n";
  }

 private:
  void begin_member(std::string_view key) {
    text_ += text_.empty() ? '{' : ',';
    new_line(1);
    text_ += '"';
    text_ += key;
    text_ += pretty_ ? "\": " : "\":";
  }
  void new_line(std::size_t depth) {
    if (pretty_) text_.append("\n").append(2 * depth, ' ');
  }
  // Writes `value` at this depth of the document. JSON strings have no raw newlines, so each
  // newline in the text is a line break of the layout and gets an indent.
  void write(const Json& value, std::size_t depth) {
    for (const char c : json_text(value, pretty_ ? 2 : -1)) {
      text_ += c;
      if (c == '\n') text_.append(2 * depth, ' ');
    }
  }

  bool pretty_;
  std::string text_;
};

// Writes a document. Calls add_contents(document) for the members that only this document has. All
// documents have the members before these, and then "warnings" and "unread".
template <typename AddContents>
std::string document(const Snapshot& snapshot, std::string_view schema, JsonLayout layout,
                     AddContents&& add_contents) {
  Document document(layout);
  document.add("schema", schema);
  document.add("time_unix_ns", snapshot.time_unix_ns != 0 ? Json(snapshot.time_unix_ns) : Json());
  document.add("host", snapshot.host);
  document.add("complete", snapshot.complete());
  add_contents(document);
  document.add("warnings", snapshot.warnings);
  document.add("unread", snapshot.unread);
  return document.end();
}

// Adds the keys "total", the length of the whole list, and "truncated", which is true if the
// document has only the first entries of the list.
void add_total(Document& document, std::size_t listed, std::size_t total) {
  document.add("total", total);
  document.add("truncated", listed < total);
}

// Returns the keys that identify the device and the process of an allocation or program. The uid is
// text, because many JSON readers round numbers above 2^53.
template <typename Item>
Json owner_of(const Snapshot& snapshot, const Item& item) {
  const Device* place =
      item.device < snapshot.devices.size() ? &snapshot.devices[item.device] : nullptr;
  const model::Process* process = selection::process_of(snapshot, item);
  Json json = {{"device", place ? Json(place->id) : Json(nullptr)},
               {"uid", place && place->uid ? Json(text::format_hex(*place->uid)) : Json(nullptr)},
               {"pid", item.pid},
               {"process", process ? text_or_null(process->name) : Json(nullptr)},
               {"state", name_of(item.state)}};
  add_pids(process ? *process : model::Process(), json);
  return json;
}

template <typename Item>
Json job_of(const Snapshot& snapshot, const Item& item) {
  const model::Process* process = selection::process_of(snapshot, item);
  return process ? text_or_null(process->job.id) : Json(nullptr);
}

// Returns `cores` as core ranges, or null if the grid of the device is unknown.
Json cores_of(const Snapshot& snapshot, std::uint32_t device, const CoreMask& cores) {
  if (device >= snapshot.devices.size() || snapshot.devices[device].grid_x == 0) return nullptr;
  return list_of(text::core_ranges(cores, snapshot.devices[device].grid_x),
                 [](const CoreRange& range) {
                   return Json{range.x0, range.y0, range.x1, range.y1};
                 });
}

Json allocation_entry(const Snapshot& snapshot, const model::Allocation& a) {
  Json entry = owner_of(snapshot, a);
  entry["kind"] = name_of(a.kind);
  entry["id"] = a.id;
  entry["address"] = value_of(a.address);
  entry["bytes"] = a.bytes;
  entry["physical_bytes"] = value_of(a.physical_bytes);
  entry["bytes_per_bank"] = value_of(a.bytes_per_bank);
  entry["banks"] = value_of(a.banks);
  entry["cores"] = a.cores ? cores_of(snapshot, a.device, *a.cores) : Json(nullptr);
  entry["age_ns"] = a.age_ns;
  entry["persistent"] = a.persistent;
  entry["estimate"] = a.estimate;
  entry["label"] = text_or_null(a.label);
  entry["devices"] = Json::array();
  for (const std::uint32_t device : devices_of(a)) {
    if (device < snapshot.devices.size()) entry["devices"].push_back(snapshot.devices[device].id);
  }
  entry["scope"] = text_or_null(a.scope);
  entry["job"] = job_of(snapshot, a);
  return entry;
}

Json cbs_of(const Snapshot& snapshot, const model::Program& p) {
  return list_of(p.cbs, [&](const model::CircularBuffer& cb) {
    return Json{{"address", cb.address},
                {"bytes_per_core", cb.bytes},
                {"cores", cores_of(snapshot, p.device, cb.cores)},
                {"global", cb.global}};
  });
}

Json program_entry(const Snapshot& snapshot, const model::Program& p) {
  const model::Bytes on_device =
      p.device < snapshot.devices.size() ? snapshot.devices[p.device].used(Kind::cb) : std::nullopt;
  Json entry = owner_of(snapshot, p);
  entry["program"] = p.program;
  entry["bytes_per_core"] = p.bytes_per_core;
  entry["cores"] = p.cores;
  entry["physical_bytes"] = p.physical_bytes;
  entry["physical_share"] = value_of(text::share_of(p.physical_bytes, on_device));
  entry["exclusive_bytes"] = p.exclusive_bytes;
  entry["logical_bytes"] = p.logical_bytes;
  entry["resident"] = p.resident_cores > 0;
  entry["resident_cores"] = p.resident_cores;
  entry["age_ns"] = p.age_ns;
  entry["name"] = text_or_null(p.name);
  // Adds the name under the key "label" too, because allocations have their names under this key.
  entry["label"] = entry["name"];
  entry["cbs"] = cbs_of(snapshot, p);
  entry["scope"] = text_or_null(p.scope);
  entry["job"] = job_of(snapshot, p);
  return entry;
}

// Adds the keys by which a reader finds the device and the process of the entry in the same
// document.
template <typename Item>
void place(const Item& item, Json& entry) {
  entry["device_index"] = item.device;
  entry["segment"] = item.segment;
}

Json group_json(const AllocationGroup& group, GroupBy by) {
  const auto physical = [&](std::uint64_t bytes) {
    return group.physical_known ? Json(bytes) : Json(nullptr);
  };
  return {{std::string(name_of(by)), text_or_null(group.name)},
          {"state", name_of(group.state)},
          {"allocations", group.allocations},
          {"bytes", group.logical.on_all()},
          {"physical_bytes", physical(group.physical.on_all())},
          {"largest_bytes", group.largest_bytes},
          {"bytes_per_device", group.logical.per_device()},
          {"physical_bytes_per_device", physical(group.physical.per_device())}};
}

// Returns a list as one CSV field: "0-3,6" for a list of numbers, "0,0-7,7 3,4-3,4" for a list of
// core ranges. For any other list, returns the number of its entries.
std::string csv_of_list(const Json& list) {
  const auto is_number = [](const Json& item) { return item.is_number_unsigned(); };
  if (!list.empty() && std::all_of(list.begin(), list.end(), is_number)) {
    return format_ids(list.get<std::vector<std::uint32_t>>());
  }
  std::vector<std::string> ranges;
  for (const Json& range : list) {
    if (!range.is_array() || range.size() != 4) return fmt::format("{}", list.size());
    ranges.push_back(fmt::format("{},{}-{},{}", range[0].get<int>(), range[1].get<int>(),
                                 range[2].get<int>(), range[3].get<int>()));
  }
  return text::join(ranges, " ");
}

std::string csv_of(const Json& value) {
  if (value.is_null()) return std::string(text::kUnknown);
  if (value.is_array()) return csv_of_list(value);
  if (value.is_string()) return value.get<std::string>();
  return value.dump();
}

// Returns `list` as CSV. `empty` is an entry without values. The header has the keys of `empty`, so
// that an empty list has a header too.
std::string csv_document(const Json& empty, const Json& list) {
  std::vector<std::string> names;
  for (const auto& [key, value] : empty.items()) names.push_back(csv_field(key));
  std::string text = text::join(names, ",") + "\n";
  for (const Json& entry : list) {
    std::vector<std::string> fields;
    for (const auto& [key, value] : entry.items()) fields.push_back(csv_field(csv_of(value)));
    text += text::join(fields, ",") + "\n";
  }
  return text;
}

}  // namespace

std::string snapshot_json(const Snapshot& snapshot, JsonLayout layout) {
  return document(snapshot, "ttmem.snapshot.v1", layout,
                  [&](Document& all) { all.add_list("devices", snapshot.devices, device_json); });
}

std::string snapshot_with_lists_json(const Snapshot& snapshot, JsonLayout layout) {
  const auto allocation = [&](const model::Allocation& a) {
    Json entry = allocation_entry(snapshot, a);
    place(a, entry);
    entry["device_indexes"] = a.devices;
    entry["own_banks"] = a.own_banks;
    entry["left_out"] = a.left_out;
    return entry;
  };
  const auto program = [&](const model::Program& p) {
    Json entry = program_entry(snapshot, p);
    place(p, entry);
    return entry;
  };
  return document(snapshot, "ttmem.snapshot.v1", layout, [&](Document& all) {
    all.add_list("devices", snapshot.devices, device_json);
    all.add_list("allocations", snapshot.allocations, allocation);
    all.add_list("programs", snapshot.programs, program);
  });
}

std::string figures_json(const Device& device) { return line_of(figures_of(device)); }

// Writes the text without making JSON values first, because the page of a recording has millions of
// cores.
std::string cores_json(const std::vector<model::Core>& cores) {
  std::string text = "[";
  const auto out = std::back_inserter(text);
  for (const model::Core& core : cores) {
    if (text.size() > 1) text += ',';
    char before = '{';
    for_each_member(core, [&](const char* name, const auto& value) {
      fmt::format_to(out, "{}\"{}\":", before, name);
      if (value) {
        fmt::format_to(out, "{}", *value);
      } else {
        text += "null";
      }
      before = ',';
    });
    text += '}';
  }
  return text + "]";
}

std::string allocation_json(const Snapshot& snapshot, const model::Allocation& allocation) {
  return line_of(allocation_entry(snapshot, allocation));
}

std::string program_json(const Snapshot& snapshot, const model::Program& program) {
  return line_of(program_entry(snapshot, program));
}

std::string cbs_json(const Snapshot& snapshot, const model::Program& program) {
  return line_of(cbs_of(snapshot, program));
}

std::string devices_json(const Snapshot& snapshot, JsonLayout layout) {
  return document(snapshot, "ttmem.devices.v1", layout,
                  [&](Document& all) { all.add_list("devices", snapshot.devices, identity_json); });
}

std::string allocations_json(const Snapshot& snapshot,
                             const std::vector<model::Allocation>& allocations, JsonLayout layout,
                             std::optional<std::size_t> total) {
  const auto convert = [&](const auto& item) { return allocation_entry(snapshot, item); };
  return document(snapshot, "ttmem.allocations.v1", layout, [&](Document& all) {
    all.add_list("allocations", allocations, convert);
    add_total(all, allocations.size(), total.value_or(allocations.size()));
  });
}

std::string programs_json(const Snapshot& snapshot, const std::vector<model::Program>& programs,
                          JsonLayout layout, std::optional<std::size_t> total) {
  const auto convert = [&](const auto& item) { return program_entry(snapshot, item); };
  return document(snapshot, "ttmem.programs.v1", layout, [&](Document& all) {
    all.add_list("programs", programs, convert);
    add_total(all, programs.size(), total.value_or(programs.size()));
  });
}

std::string allocation_groups_json(const Snapshot& snapshot,
                                   const std::vector<AllocationGroup>& groups, GroupBy by,
                                   JsonLayout layout) {
  const auto convert = [&](const auto& group) { return group_json(group, by); };
  return document(snapshot, "ttmem.allocation_groups.v1", layout,
                  [&](Document& all) { all.add_list("groups", groups, convert); });
}

std::string allocations_csv(const Snapshot& snapshot,
                            const std::vector<model::Allocation>& allocations) {
  const auto convert = [&](const auto& item) { return allocation_entry(snapshot, item); };
  return csv_document(allocation_entry({}, {}), list_of(allocations, convert));
}

std::string programs_csv(const Snapshot& snapshot, const std::vector<model::Program>& programs) {
  const auto convert = [&](const auto& item) { return program_entry(snapshot, item); };
  return csv_document(program_entry({}, {}), list_of(programs, convert));
}

std::string allocation_groups_csv(const std::vector<AllocationGroup>& groups, GroupBy by) {
  const auto convert = [&](const auto& group) { return group_json(group, by); };
  return csv_document(group_json({}, by), list_of(groups, convert));
}

}  // namespace ttmem::views
