// SPDX-License-Identifier: Apache-2.0
// Selects parts of a Report, as the options of the commands name them. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyse/report/report.hpp"
#include "read/model/device_name.hpp"

namespace ttmem::report {

// Returns the report with only the named devices. A number may name several chips.
[[nodiscard]] Report select_devices(Report report, const std::vector<model::DeviceName>& names);
// Returns the entries of `names` that match no device of the report.
[[nodiscard]] std::vector<model::DeviceName> missing_devices(
    const Report& report, const std::vector<model::DeviceName>& names);

// Returns true if `text` is the name of a peak: "dram.peak", "l1.peak", "cb.peak", "trace.peak" or
// "kernels.peak".
[[nodiscard]] bool is_peak_name(std::string_view text);
// Returns the peak with a name such as "dram" or "l1". Returns nullopt if the peak is unknown.
[[nodiscard]] std::optional<Extreme> peak_named(const DeviceReport& device, std::string_view name);
// Returns the peak of L1 or the peak of DRAM, depending on which is the larger share of its
// capacity.
[[nodiscard]] std::optional<Extreme> fullest_peak(const DeviceReport& device);

// Returns the device that used the largest share of its DRAM or L1; null if there is none.
[[nodiscard]] const DeviceReport* fullest(const Report& report);

}  // namespace ttmem::report
