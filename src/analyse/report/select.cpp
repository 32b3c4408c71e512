// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/select.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ttmem::report {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 4> kPeaks = {
    {{"dram", Kind::dram}, {"cb", Kind::cb}, {"trace", Kind::trace}, {"kernels", Kind::kernel}}};

bool has_name(const DeviceReport& device, const model::DeviceName& name) {
  if (!name.bus_id.empty()) return false;  // recordings contain no bus ids
  if (name.uid) return device.uid == *name.uid;
  return std::find(device.ids.begin(), device.ids.end(), name.number) != device.ids.end();
}

double share(const std::optional<Extreme>& peak, const Bytes& capacity) {
  if (!peak || !capacity || *capacity == 0) return 0;
  return static_cast<double>(peak->bytes) / static_cast<double>(*capacity);
}

double fullness(const DeviceReport& device) {
  return std::max(share(device.l1_peak, device.l1_capacity),
                  share(device.peak[Kind::dram], device.dram_capacity));
}

}  // namespace

Report select_devices(Report report, const std::vector<model::DeviceName>& names) {
  std::erase_if(report.devices, [&](const DeviceReport& device) {
    return std::none_of(names.begin(), names.end(),
                        [&](const auto& name) { return has_name(device, name); });
  });
  return report;
}

std::vector<model::DeviceName> missing_devices(const Report& report,
                                               const std::vector<model::DeviceName>& names) {
  std::vector<model::DeviceName> missing;
  for (const model::DeviceName& name : names) {
    const bool there = std::any_of(report.devices.begin(), report.devices.end(),
                                   [&](const auto& device) { return has_name(device, name); });
    if (!there) missing.push_back(name);
  }
  return missing;
}

bool is_peak_name(std::string_view text) {
  if (text == "l1.peak") return true;
  return std::any_of(kPeaks.begin(), kPeaks.end(),
                     [&](const auto& known) { return text == std::string(known.first) + ".peak"; });
}

std::optional<Extreme> peak_named(const DeviceReport& device, std::string_view name) {
  if (name == "l1") return device.l1_peak;
  const auto* known = std::find_if(kPeaks.begin(), kPeaks.end(),
                                   [&](const auto& peak) { return peak.first == name; });
  return known == kPeaks.end() ? std::nullopt : device.peak[known->second];
}

std::optional<Extreme> fullest_peak(const DeviceReport& device) {
  const auto& dram = device.peak[Kind::dram];
  const auto& l1 = device.l1_peak;
  if (!l1 || !dram) return l1 ? l1 : dram;
  return share(l1, device.l1_capacity) >= share(dram, device.dram_capacity) ? l1 : dram;
}

const DeviceReport* fullest(const Report& report) {
  const auto found =
      std::max_element(report.devices.begin(), report.devices.end(),
                       [](const auto& a, const auto& b) { return fullness(a) < fullness(b); });
  return found == report.devices.end() ? nullptr : &*found;
}

}  // namespace ttmem::report
