// SPDX-License-Identifier: Apache-2.0
#include "read/remote/read_device.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/job.hpp"
#include "read/model/figure_names.hpp"
#include "read/remote/json_value.hpp"

namespace ttmem::remote {
namespace {

using model::Bytes;
using model::Device;

// The limit ensures that a sum over all devices and processes does not overflow.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 56;

Bytes bytes_of(const Json& object, const char* key) {
  const Bytes bytes = number_of<std::uint64_t>(object, key);
  return bytes && *bytes <= kMaxBytes ? bytes : std::nullopt;
}

std::optional<std::int64_t> room_of(const Json& object, const char* key) {
  const auto room = number_of<std::int64_t>(object, key);
  constexpr auto most = static_cast<std::int64_t>(kMaxBytes);
  return room && *room >= -most && *room <= most ? room : std::nullopt;
}

PerKind<KindFigures> kinds_in(const Json& list) {
  PerKind<KindFigures> kinds{};
  if (!list.is_array()) return kinds;
  for (const Json& entry : list) {
    const std::optional<Kind> kind = kind_named(text_of(entry, "kind"));
    if (!kind) continue;
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      const std::string name(model::kFigureNames[i]);
      kinds[*kind].set(kFigures[i].value, bytes_of(entry, name.c_str()));
    }
  }
  return kinds;
}

// Returns the bytes that a process holds of each kind. The document has only the total number of
// allocations, so the first known kind gets this total, and the other known kinds get 0.
PerKind<KindFigures> held_by(const Json& json) {
  PerKind<KindFigures> kinds{};
  for (const Kind kind : kDeviceKinds) {
    const std::string key = std::string(key_of(kind)) + "_bytes";
    const Bytes used = bytes_of(json, key.c_str());
    if (used) kinds[kind].set(&KindFigures::used_bytes, used);
  }
  const Bytes allocations = bytes_of(json, "allocations");
  if (!allocations) return kinds;
  constexpr std::array counted = {Kind::dram, Kind::l1, Kind::l1_small, Kind::trace, Kind::kernel};
  Kind first = Kind::system;
  for (const Kind kind : counted) {
    if (kinds[kind].known == 0) continue;
    kinds[kind].set(&KindFigures::live, 0);
    if (first == Kind::system) first = kind;
  }
  kinds[first].set(&KindFigures::live, allocations);
  return kinds;
}

model::Source source_named(std::string_view name) {
  if (name == "tt-metal") return model::Source::tt_metal;
  return name == "driver" ? model::Source::driver : model::Source::ttmem;
}

std::optional<model::Process> process_in(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  model::Process process;
  process.pid = number_or_zero<std::int32_t>(json, "pid");
  process.segment = number_or_zero<std::uint64_t>(json, "segment");
  process.foreign_pid = truth_of(json, "foreign_pid").value_or(false);
  process.pid_namespace = number_of<std::uint32_t>(json, "pid_namespace");
  process.host_pid = number_of<std::int32_t>(json, "host_pid");
  process.supposed_device = truth_of(json, "device_supposed").value_or(false);
  process.name = text_of(json, "name");
  process.command = text_of(json, "command");
  process.user = text_of(json, "user");
  process.state = text_of(json, "state") == "dead" ? model::State::dead : model::State::alive;
  process.source = source_named(text_of(json, "source"));
  process.kinds = held_by(json);
  process.kernels_estimated_bytes = bytes_of(json, "kernels_estimated_bytes");
  process.cb_estimate = truth_of(json, "cb_estimate");
  process.not_tracked = text_of(json, "not_tracked");
  process.may_hold = truth_of(json, "may_hold").value_or(true);
  for (const JobField& field : kJobFields) {
    const Json& value = member(json, field.name.data());
    const auto number = field.is_number ? number_in<std::uint32_t>(value) : std::nullopt;
    process.job.*field.value = number ? std::to_string(*number) : text_in(value);
  }
  return process;
}

std::optional<Anomalies> anomalies_in(const Json& json) {
  if (!number_of<std::uint64_t>(json, "unknown_frees")) return std::nullopt;
  const auto count = [&](const char* key) { return bytes_of(json, key).value_or(0); };
  return Anomalies{count("unknown_frees"),       count("allocs_over_live"),
                   count("overlapping_buffers"), count("unknown_programs"),
                   count("bad_arguments"),       count("left_at_close"),
                   count("left_at_close_bytes")};
}

model::FreeSpace free_in(const Json& json, const char* all, const char* largest) {
  return {bytes_of(json, all), bytes_of(json, largest)};
}

void read_identity(const Json& json, Device& device) {
  device.id = number_or_zero<std::uint32_t>(json, "id");
  device.ids = list_in(member(json, "ids"), number_in<std::uint32_t>);
  std::sort(device.ids.begin(), device.ids.end());
  device.ids.erase(std::unique(device.ids.begin(), device.ids.end()), device.ids.end());
  device.uid = hex_in(member(json, "uid"));
  device.other_uids = list_in(member(json, "other_uids"), hex_in);
  device.arch = text_of(json, "arch");
  device.board = text_of(json, "board");
  const Json& grid = member(json, "grid");
  const auto x = number_or_zero<std::uint16_t>(grid, "x");
  const auto y = number_or_zero<std::uint16_t>(grid, "y");
  if (std::uint32_t{x} * y <= kMaxCores && x > 0 && y > 0) {
    device.grid_x = x;
    device.grid_y = y;
  }
}

// Reads the facts from the kernel driver.
void read_chip(const Json& json, Device& device) {
  device.driver_number = number_of<std::uint32_t>(json, "driver_number");
  device.bus_id = text_of(json, "bus_id");
  device.temperature_c = real_of(json, "temperature_c");
  device.power_w = real_of(json, "power_w");
  device.aiclk_mhz = number_of<std::uint32_t>(json, "aiclk_mhz");
  device.in_reset = text_of(json, "state") == "in_reset";
  device.idle = text_of(json, "state") == "idle";
  device.holders_known = member(json, "open_in").is_array();
  const char* const seen = json.contains("open_seen_in") ? "open_seen_in" : "open_in";
  device.holders = list_in(member(json, seen), number_in<std::int32_t>);
  device.card_chips = number_or_zero<std::uint32_t>(json, "card_chips");
  const std::string from = text_of(json, "capacities_from");
  device.capacities_from = from == "card"   ? Device::Statement::card
                           : from == "chip" ? Device::Statement::chip
                                            : Device::Statement::process;
}

void read_l1(const Json& json, Device& device) {
  device.l1_capacity_bytes = bytes_of(json, "capacity_bytes");
  device.l1_used_bytes = bytes_of(json, "used_bytes");
  device.l1_peak_bytes = bytes_of(json, "peak_bytes");
  device.l1_bytes_per_core = bytes_of(json, "bytes_per_core");
  device.l1_base = bytes_of(json, "base_address");
  device.l1_small_region_bytes = bytes_of(json, "small_region_bytes_per_core");
  device.headroom_bytes_per_core = room_of(json, "headroom_bytes_per_core");
  device.lockstep_bytes[Kind::l1] = bytes_of(member(json, "buffers"), "lockstep_bytes");
  device.lockstep_bytes[Kind::l1_small] = bytes_of(json, "small_lockstep_bytes");
  device.free[Kind::l1] = free_in(json, "free_bytes_per_bank", "largest_free_bytes_per_bank");
  device.free[Kind::l1_small] =
      free_in(json, "small_free_bytes_per_bank", "small_largest_free_bytes_per_bank");
  const Json& cb = member(json, "cb");
  device.cb_resident_bytes = bytes_of(cb, "resident_bytes");
  device.cb_estimate = truth_of(cb, "estimate");
  device.kernels_persistent_bytes = bytes_of(json, "kernels_persistent_bytes");
  device.kernels_estimated_bytes = bytes_of(json, "kernels_estimated_bytes");
}

void read_dram(const Json& dram, const Json& trace, Device& device) {
  device.dram_channels = number_or_zero<std::uint32_t>(dram, "channels");
  device.dram_capacity_bytes = bytes_of(dram, "capacity_bytes");
  device.trace_capacity_bytes = bytes_of(trace, "capacity_bytes");
  device.free[Kind::dram] = free_in(dram, "free_bytes_per_bank", "largest_free_bytes_per_bank");
  device.free[Kind::trace] = free_in(trace, "free_bytes_per_bank", "largest_free_bytes_per_bank");
}

}  // namespace

std::vector<model::Core> read_cores(const Json& list, std::uint16_t grid_x, std::uint16_t grid_y) {
  std::vector<model::Core> cores;
  if (!list.is_array() || grid_x == 0 || list.size() != std::size_t{grid_x} * grid_y) return cores;
  for (const Json& json : list) {
    model::Core core;
    core.x = static_cast<std::uint16_t>(cores.size() % grid_x);
    core.y = static_cast<std::uint16_t>(cores.size() / grid_x);
    if (number_of<std::uint16_t>(json, "x") != core.x ||
        number_of<std::uint16_t>(json, "y") != core.y) {
      return {};
    }
    core.cb_bytes = bytes_of(json, "cb_bytes");
    core.cb_resident_bytes = bytes_of(json, "cb_resident_bytes");
    core.l1_bytes = bytes_of(json, "l1_bytes");
    core.l1_data_bytes = bytes_of(json, "l1_data_bytes");
    core.headroom_bytes = room_of(json, "headroom_bytes");
    cores.push_back(core);
  }
  return cores;
}

Device read_device(const Json& json) {
  Device device;
  read_identity(json, device);
  read_chip(json, device);
  device.complete = truth_of(json, "complete").value_or(true);
  device.kinds = kinds_in(member(json, "kinds"));
  read_dram(member(json, "dram"), member(json, "trace"), device);
  read_l1(member(json, "l1"), device);
  device.programs = number_of<std::uint64_t>(json, "programs");
  device.anomalies = anomalies_in(member(json, "anomalies"));
  device.processes = list_in(member(json, "processes"), process_in);
  device.cores = read_cores(member(json, "per_core"), device.grid_x, device.grid_y);
  return device;
}

}  // namespace ttmem::remote
