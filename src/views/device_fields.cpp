// SPDX-License-Identifier: Apache-2.0
#include "views/device_fields.hpp"

#include <algorithm>
#include <optional>

#include "views/format.hpp"

namespace ttmem::views {
namespace {

using model::Device;

template <typename T>
FieldValue value_of(const std::optional<T>& value) {
  return value ? FieldValue(*value) : FieldValue();
}

FieldValue count_of(const Device& device, model::State state) {
  return static_cast<std::uint64_t>(
      std::count_if(device.processes.begin(), device.processes.end(),
                    [&](const auto& process) { return process.state == state; }));
}

FieldValue anomalies_of(const Device& device) {
  std::uint64_t total = 0;
  for (const auto count : kAnomalies) {
    if (count != &Anomalies::left_at_close_bytes) total += device.anomalies.*count;
  }
  return total;
}

template <Kind kind, auto method>
constexpr auto of = [](const Device& d) { return value_of((d.*method)(kind)); };
template <auto member>
constexpr auto figure = [](const Device& d) { return value_of(d.*member); };
template <auto member>
constexpr auto text =
    [](const Device& d) { return (d.*member).empty() ? FieldValue() : FieldValue(d.*member); };
template <auto member>
constexpr auto side = [](const Device& d) {
  return d.*member == 0 ? FieldValue() : FieldValue(std::uint64_t{d.*member});
};
template <auto member>
constexpr auto sum = [](const Device& d) { return value_of(sum_of(d.kinds, kAllKinds, member)); };
template <auto member>
constexpr auto anomaly = [](const Device& d) { return FieldValue(d.anomalies.*member); };

}  // namespace

const std::vector<DeviceField>& device_fields() {
  static const std::vector<DeviceField> fields = {
      {"id", "device", [](const Device& d) { return FieldValue(std::uint64_t{d.id}); }},
      // As text: a number above 2^53 does not survive every JSON reader.
      {"uid", "uid",
       [](const Device& d) { return d.uid ? FieldValue(format_hex(*d.uid)) : FieldValue(); }},
      {"arch", "arch", text<&Device::arch>},
      {"board", "board", text<&Device::board>},
      {"grid/x", "", side<&Device::grid_x>},
      {"grid/y", "", side<&Device::grid_y>},
      {"dram/used_bytes", "dram_used_bytes", of<Kind::dram, &Device::used>},
      {"dram/peak_bytes", "dram_peak_bytes", of<Kind::dram, &Device::peak>},
      {"dram/capacity_bytes", "dram_capacity_bytes", figure<&Device::dram_capacity_bytes>},
      {"dram/logical_bytes", "dram_logical_bytes", of<Kind::dram, &Device::logical>},
      {"l1/used_bytes", "l1_used_bytes", figure<&Device::l1_used_bytes>},
      {"l1/peak_bytes", "l1_peak_bytes", figure<&Device::l1_peak_bytes>},
      {"l1/capacity_bytes", "l1_capacity_bytes", figure<&Device::l1_capacity_bytes>},
      {"l1/buffers/logical_bytes", "l1_buffers_logical_bytes", of<Kind::l1, &Device::logical>},
      {"l1/buffers/physical_bytes", "l1_buffers_physical_bytes", of<Kind::l1, &Device::physical>},
      {"l1/small_bytes", "l1_small_bytes", of<Kind::l1_small, &Device::used>},
      {"l1/cb/physical_bytes", "cb_physical_bytes", of<Kind::cb, &Device::used>},
      {"l1/cb/resident_bytes", "cb_resident_bytes", figure<&Device::cb_resident_bytes>},
      {"l1/cb/logical_bytes", "cb_logical_bytes", of<Kind::cb, &Device::logical>},
      {"l1/cb/peak_bytes", "cb_peak_bytes", of<Kind::cb, &Device::peak>},
      {"l1/kernels_bytes", "kernels_bytes", of<Kind::kernel, &Device::used>},
      {"l1/kernels_persistent_bytes", "kernels_persistent_bytes",
       figure<&Device::kernels_persistent_bytes>},
      {"l1/kernels_estimated_bytes", "kernels_estimated_bytes",
       figure<&Device::kernels_estimated_bytes>},
      {"l1/headroom_bytes_per_core", "headroom_bytes_per_core",
       figure<&Device::headroom_bytes_per_core>},
      {"trace/used_bytes", "trace_used_bytes", of<Kind::trace, &Device::used>},
      {"trace/peak_bytes", "trace_peak_bytes", of<Kind::trace, &Device::peak>},
      {"trace/capacity_bytes", "trace_capacity_bytes", figure<&Device::trace_capacity_bytes>},
      {"system_bytes", "system_bytes", of<Kind::system, &Device::used>},
      {"", "grid_x", side<&Device::grid_x>},
      {"", "grid_y", side<&Device::grid_y>},
      {"programs", "programs", figure<&Device::programs>},
      {"allocations_total", "allocations_total", sum<&KindFigures::allocations>},
      {"frees_total", "frees_total", sum<&KindFigures::frees>},
      {"anomalies/unknown_frees", "", anomaly<&Anomalies::unknown_frees>},
      {"anomalies/allocs_over_live", "", anomaly<&Anomalies::allocs_over_live>},
      {"anomalies/overlapping_buffers", "", anomaly<&Anomalies::overlapping_buffers>},
      {"anomalies/unknown_programs", "", anomaly<&Anomalies::unknown_programs>},
      {"anomalies/bad_arguments", "", anomaly<&Anomalies::bad_arguments>},
      {"anomalies/left_at_close", "", anomaly<&Anomalies::left_at_close>},
      {"anomalies/left_at_close_bytes", "", anomaly<&Anomalies::left_at_close_bytes>},
      {"", "anomalies", anomalies_of},
      {"", "processes_alive", [](const Device& d) { return count_of(d, model::State::alive); }},
      {"", "processes_dead", [](const Device& d) { return count_of(d, model::State::dead); }},
  };
  return fields;
}

}  // namespace ttmem::views
