// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "analyse/leaks/filter.hpp"
#include "analyse/leaks/leaks.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::leaks {

// Returns the leaks of a recording. Reads all rows once, and all events only if the recording has
// marks. Calls `progress` with the finished part, 0 to 1; `progress` may be empty. Fails if the
// file is damaged.
//
// Programs and system kernels usually stay until their device is closed. So they are not listed as
// leaks of a closed device. The programs of a killed process are listed.
[[nodiscard]] Result<Leaks> recorded_leaks(recording::Reader& reader, const Filter& filter,
                                           const std::function<void(double)>& progress);

// Returns the devices of the filter that the recording does not contain.
[[nodiscard]] std::vector<model::DeviceName> missing_devices(const recording::Tables& tables,
                                                             const Filter& filter);

}  // namespace ttmem::leaks
