// SPDX-License-Identifier: Apache-2.0
//
// Parts of a Report, as the options of the commands name them. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyse/report/report.hpp"
#include "read/model/device_name.hpp"

namespace ttmem::report {

// The devices with these names. A number may name several chips.
[[nodiscard]] Report select_devices(Report report, const std::vector<model::DeviceName>& names);
// Which of `names` the report does not have.
[[nodiscard]] std::vector<model::DeviceName> missing_devices(
    const Report& report, const std::vector<model::DeviceName>& names);

// "dram.peak", "l1.peak", "cb.peak", "trace.peak", "kernels.peak".
[[nodiscard]] bool is_peak_name(std::string_view text);
// Of "dram", "l1" and so on; none: unknown.
[[nodiscard]] std::optional<Extreme> peak_named(const DeviceReport& device, std::string_view name);
// The peak of L1 or of DRAM, whichever had less left.
[[nodiscard]] std::optional<Extreme> fullest_peak(const DeviceReport& device);

// The device that used most of what it has, of DRAM or L1; null: there is none.
[[nodiscard]] const DeviceReport* fullest(const Report& report);

}  // namespace ttmem::report
