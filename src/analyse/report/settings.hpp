// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/report/report.hpp"

namespace ttmem::report {

// What to open the device with, by what this run used, with a tenth to spare: runs differ.
struct Settings {
  // Bytes of all banks together, as the runtime takes it since 2026; before that, those of one
  // bank. None: it is unknown whether traces were used. 0: there were none.
  Bytes trace_region_size;
  Bytes l1_small_size;  // per core
};
[[nodiscard]] Settings settings_for(const DeviceReport& device);

}  // namespace ttmem::report
