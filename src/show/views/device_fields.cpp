// SPDX-License-Identifier: Apache-2.0
#include "show/views/device_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "read/model/shared_chip.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using model::Device;

template <typename T>
FieldValue value_of(const std::optional<T>& value) {
  return value ? FieldValue(*value) : FieldValue();
}

// Returns "in_reset", "idle" or "in_use", or null if it is unknown whether a process uses the
// device.
FieldValue state_of(const Device& device) {
  if (device.in_reset) return std::string("in_reset");
  if (device.idle) return std::string("idle");
  const bool used = model::living_processes(device) > 0 || !device.holders.empty();
  return used ? FieldValue(std::string("in_use")) : FieldValue();
}

FieldValue untracked_of(const Device& device) {
  if (!device.driver_number || !users_known(device)) return {};
  return model::untracked_processes(device);
}

FieldValue count_of(const Device& device, model::State state) {
  if (state == model::State::alive && !users_known(device)) return {};
  return static_cast<std::uint64_t>(
      std::count_if(device.processes.begin(), device.processes.end(),
                    [&](const auto& process) { return process.state == state; }));
}

FieldValue anomalies_of(const Device& device) {
  if (!device.anomalies) return {};
  std::uint64_t total = 0;
  for (const auto count : kAnomalies) {
    if (count != &Anomalies::left_at_close_bytes) total += *device.anomalies.*count;
  }
  return total;
}

using model::FreeSpace;

template <Kind kind, auto method>
constexpr auto of = [](const Device& d) { return value_of((d.*method)(kind)); };
template <auto member>
constexpr auto figure = [](const Device& d) { return value_of(d.*member); };
template <Kind kind, auto member>
constexpr auto free_space = [](const Device& d) { return value_of(d.free[kind].*member); };
template <auto member>
constexpr auto text =
    [](const Device& d) { return (d.*member).empty() ? FieldValue() : FieldValue(d.*member); };
template <auto member>
constexpr auto side = [](const Device& d) {
  return d.*member == 0 ? FieldValue() : FieldValue(std::uint64_t{d.*member});
};
template <Kind kind>
constexpr auto lockstep = [](const Device& d) { return value_of(d.lockstep_bytes[kind]); };
template <auto member>
constexpr auto sum = [](const Device& d) { return value_of(sum_of(d.kinds, kAllKinds, member)); };
template <auto member>
constexpr auto anomaly =
    [](const Device& d) { return d.anomalies ? FieldValue(*d.anomalies.*member) : FieldValue(); };

}  // namespace

const std::vector<DeviceField>& device_fields() {
  static const std::vector<DeviceField> fields = {
      {"id", "device", [](const Device& d) { return FieldValue(std::uint64_t{d.id}); },
       "Number of the device, as its processes count"},
      // Writes the uid as text, because many JSON readers round numbers above 2^53.
      {"uid", "uid",
       [](const Device& d) { return d.uid ? FieldValue(text::format_hex(*d.uid)) : FieldValue(); },
       "The chip's own number, hexadecimal"},
      {"arch", "arch", text<&Device::arch>, "wormhole_b0 or blackhole"},
      {"board", "board", text<&Device::board>, "Model of the board"},
      {"grid/x", "", side<&Device::grid_x>, "Columns of compute cores"},
      {"grid/y", "", side<&Device::grid_y>, "Rows of compute cores"},
      {"dram/used_bytes", "dram_used_bytes", of<Kind::dram, &Device::used>, "DRAM that is taken"},
      {"dram/peak_bytes", "dram_peak_bytes", of<Kind::dram, &Device::peak>,
       "The most DRAM that was taken at once"},
      {"dram/capacity_bytes", "dram_capacity_bytes", figure<&Device::dram_capacity_bytes>,
       "All DRAM of the device"},
      {"dram/logical_bytes", "dram_logical_bytes", of<Kind::dram, &Device::logical>,
       "DRAM as asked for, without padding"},
      {"dram/physical_bytes", "dram_physical_bytes", of<Kind::dram, &Device::physical>,
       "DRAM that is taken; unknown when a size is only as asked for"},
      {"dram/channels", "", side<&Device::dram_channels>, "DRAM channels: banks of its allocator"},
      {"dram/free_bytes_per_bank", "dram_free_bytes_per_bank",
       free_space<Kind::dram, &FreeSpace::bytes_per_bank>, "DRAM that is free in every bank"},
      {"dram/largest_free_bytes_per_bank", "dram_largest_free_bytes_per_bank",
       free_space<Kind::dram, &FreeSpace::largest_per_bank>,
       "Of it, the largest block: what one buffer can have at most"},
      {"l1/used_bytes", "l1_used_bytes", figure<&Device::l1_used_bytes>,
       "Total L1: buffers, L1_SMALL, CBs and kernels"},
      {"l1/peak_bytes", "l1_peak_bytes", figure<&Device::l1_peak_bytes>,
       "The most L1 that was taken at once"},
      {"l1/capacity_bytes", "l1_capacity_bytes", figure<&Device::l1_capacity_bytes>,
       "L1 of all compute cores"},
      {"l1/bytes_per_core", "", figure<&Device::l1_bytes_per_core>, "L1 of one core"},
      {"l1/base_address", "", figure<&Device::l1_base>,
       "Where circular buffers begin in the L1 of a core"},
      {"l1/small_region_bytes_per_core", "", figure<&Device::l1_small_region_bytes>,
       "What is set apart for L1_SMALL at the end of the L1 of a core"},
      {"l1/buffers/logical_bytes", "l1_buffers_logical_bytes", of<Kind::l1, &Device::logical>,
       "L1 buffers as asked for"},
      {"l1/buffers/physical_bytes", "l1_buffers_physical_bytes", of<Kind::l1, &Device::physical>,
       "What L1 buffers take"},
      {"l1/buffers/data_bytes", "l1_buffers_data_bytes", of<Kind::l1, &Device::data>,
       "Of it, on the cores that hold their buffer's bytes"},
      {"l1/buffers/lockstep_bytes", "", lockstep<Kind::l1>,
       "Of it, on the cores that hold none of their buffer's bytes"},
      {"l1/small_bytes", "l1_small_bytes", of<Kind::l1_small, &Device::used>,
       "What L1_SMALL buffers take"},
      {"l1/small_data_bytes", "l1_small_data_bytes", of<Kind::l1_small, &Device::data>,
       "Of it, on the cores that hold their buffer's bytes"},
      {"l1/small_lockstep_bytes", "", lockstep<Kind::l1_small>,
       "Of it, on the cores that hold none of their buffer's bytes"},
      {"l1/cb/physical_bytes", "cb_physical_bytes", of<Kind::cb, &Device::used>,
       "Circular buffers: what programs share counts once"},
      {"l1/cb/resident_bytes", "cb_resident_bytes", figure<&Device::cb_resident_bytes>,
       "Circular buffers of what was dispatched last"},
      {"l1/cb/logical_bytes", "cb_logical_bytes", of<Kind::cb, &Device::logical>,
       "Circular buffers: the plain sum over all programs"},
      {"l1/cb/peak_bytes", "cb_peak_bytes", of<Kind::cb, &Device::peak>,
       "The most circular buffers took at once (physical)"},
      {"l1/cb/estimate", "cb_estimate", figure<&Device::cb_estimate>,
       "Whether the figures of circular buffers are an estimate"},
      {"l1/kernels_bytes", "kernels_bytes", of<Kind::kernel, &Device::used>, "What kernels take"},
      {"l1/kernels_persistent_bytes", "kernels_persistent_bytes",
       figure<&Device::kernels_persistent_bytes>,
       "Of it, kernels that stay until the device closes"},
      {"l1/kernels_estimated_bytes", "kernels_estimated_bytes",
       figure<&Device::kernels_estimated_bytes>, "Of it, sizes that are estimates"},
      {"l1/headroom_bytes_per_core", "headroom_bytes_per_core",
       figure<&Device::headroom_bytes_per_core>,
       "Room between CBs and L1 buffers on the tightest core"},
      {"l1/free_bytes_per_bank", "l1_free_bytes_per_bank",
       free_space<Kind::l1, &FreeSpace::bytes_per_bank>,
       "L1 for buffers that is free in every bank"},
      {"l1/largest_free_bytes_per_bank", "l1_largest_free_bytes_per_bank",
       free_space<Kind::l1, &FreeSpace::largest_per_bank>,
       "Of it, the largest block: what one buffer can have at most"},
      {"l1/small_free_bytes_per_bank", "l1_small_free_bytes_per_bank",
       free_space<Kind::l1_small, &FreeSpace::bytes_per_bank>,
       "L1_SMALL that is free in every bank"},
      {"l1/small_largest_free_bytes_per_bank", "l1_small_largest_free_bytes_per_bank",
       free_space<Kind::l1_small, &FreeSpace::largest_per_bank>,
       "Of it, the largest block: what one buffer can have at most"},
      {"trace/used_bytes", "trace_used_bytes", of<Kind::trace, &Device::used>,
       "What trace buffers take"},
      {"trace/peak_bytes", "trace_peak_bytes", of<Kind::trace, &Device::peak>,
       "The most trace buffers took at once"},
      {"trace/capacity_bytes", "trace_capacity_bytes", figure<&Device::trace_capacity_bytes>,
       "The trace region"},
      {"trace/free_bytes_per_bank", "trace_free_bytes_per_bank",
       free_space<Kind::trace, &FreeSpace::bytes_per_bank>,
       "Trace region that is free in every bank"},
      {"trace/largest_free_bytes_per_bank", "trace_largest_free_bytes_per_bank",
       free_space<Kind::trace, &FreeSpace::largest_per_bank>,
       "Of it, the largest block: what one buffer can have at most"},
      {"system_bytes", "system_bytes", of<Kind::system, &Device::used>,
       "Host memory that buffers of this device take"},
      {"bus_id", "bus_id", text<&Device::bus_id>, "PCI address"},
      {"temperature_c", "temperature_c", figure<&Device::temperature_c>,
       "Of the chip, in degrees Celsius"},
      {"power_w", "power_w", figure<&Device::power_w>, "That it takes, in watts"},
      {"aiclk_mhz", "aiclk_mhz",
       [](const Device& d) {
         return d.aiclk_mhz ? FieldValue(std::uint64_t{*d.aiclk_mhz}) : FieldValue();
       },
       "Clock of the compute cores, in MHz"},
      {"driver_number", "",
       [](const Device& d) {
         return d.driver_number ? FieldValue(std::uint64_t{*d.driver_number}) : FieldValue();
       },
       "N of /dev/tenstorrent/N"},
      {"card_chips", "", side<&Device::card_chips>, "Chips on its card"},
      {"complete", "", [](const Device& d) { return FieldValue(d.complete); },
       "False: what could not be read may hold more"},
      {"state", "state", state_of, "idle, in_use or in_reset"},
      {"untracked_processes", "untracked_processes", untracked_of,
       "Processes that have it open and report nothing"},
      {"capacities_from", "capacities_from",
       [](const Device& d) {
         if (!d.dram_capacity_bytes && !d.l1_bytes_per_core) return FieldValue();
         constexpr std::array<const char*, 3> names = {"process", "card", "chip"};
         return FieldValue(std::string(names[static_cast<std::size_t>(d.capacities_from)]));
       },
       "Who states the capacities: a process, or what every card or chip of its type has"},
      {"", "grid_x", side<&Device::grid_x>, "Columns of compute cores"},
      {"", "grid_y", side<&Device::grid_y>, "Rows of compute cores"},
      {"programs", "programs", figure<&Device::programs>, "Live programs"},
      {"allocations_total", "allocations_total", sum<&KindFigures::allocations>,
       "Allocations since the processes started"},
      {"frees_total", "frees_total", sum<&KindFigures::frees>, "Frees since the processes started"},
      {"anomalies/unknown_frees", "", anomaly<&Anomalies::unknown_frees>,
       "Frees of ids that were not live"},
      {"anomalies/allocs_over_live", "", anomaly<&Anomalies::allocs_over_live>,
       "Allocations with an id in use"},
      {"anomalies/overlapping_buffers", "", anomaly<&Anomalies::overlapping_buffers>,
       "Live buffers that overlap others"},
      {"anomalies/unknown_programs", "", anomaly<&Anomalies::unknown_programs>,
       "Dispatches of programs that were not placed"},
      {"anomalies/bad_arguments", "", anomaly<&Anomalies::bad_arguments>,
       "Calls with bad arguments"},
      {"anomalies/left_at_close", "", anomaly<&Anomalies::left_at_close>,
       "Allocations that were live when their device closed"},
      {"anomalies/left_at_close_bytes", "", anomaly<&Anomalies::left_at_close_bytes>,
       "What these held"},
      {"", "anomalies", anomalies_of, "Calls that do not fit what was reported before"},
      {"", "processes_alive", [](const Device& d) { return count_of(d, model::State::alive); },
       "Processes that use it"},
      {"", "processes_dead", [](const Device& d) { return count_of(d, model::State::dead); },
       "Dead processes that left something"},
      {"sums_may_overlap", "sums_may_overlap",
       [](const Device& d) { return FieldValue(model::may_overlap(d)); },
       "Whether several processes share it, whose addresses the sums may count several times"},
  };
  return fields;
}

const std::vector<SnapshotField>& snapshot_fields() {
  static const std::vector<SnapshotField> fields = {
      {"time_unix_ns", [](const model::Snapshot& s) { return FieldValue(s.time_unix_ns); },
       "When it was read, in nanoseconds since 1970"},
      {"host",
       [](const model::Snapshot& s) { return s.host.empty() ? FieldValue() : FieldValue(s.host); },
       "Name of the host"},
  };
  return fields;
}

const DeviceField& field_of_column(std::string_view column) {
  const auto& fields = device_fields();
  return *std::find_if(fields.begin(), fields.end(),
                       [&](const DeviceField& field) { return field.column == column; });
}

std::string text_of(const FieldValue& value, std::string_view unknown) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::string(unknown);
}

}  // namespace ttmem::views
