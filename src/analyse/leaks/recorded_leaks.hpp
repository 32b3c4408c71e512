// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "analyse/leaks/filter.hpp"
#include "analyse/leaks/leaks.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::leaks {

// The leaks of a recording. It goes over all rows once, and over the whole story only when
// something was marked. `progress` is called with the part that is done, 0 to 1; may be empty.
// Fails when the file is damaged. Programs and system kernels stay until their device is closed:
// what of them is there then, nobody forgot. Of a killed process they are told.
[[nodiscard]] Result<Leaks> recorded_leaks(recording::Reader& reader, const Filter& filter,
                                           const std::function<void(double)>& progress);

// Which of the devices of the filter the recording does not have.
[[nodiscard]] std::vector<model::DeviceName> missing_devices(const recording::Tables& tables,
                                                             const Filter& filter);

}  // namespace ttmem::leaks
