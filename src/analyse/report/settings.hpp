// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/report/report.hpp"

namespace ttmem::report {

// Sizes with which to open the device. The sizes are 10 % larger than this run needed, because
// other runs may need more.
struct Settings {
  // Bytes of all banks together, as the runtime expects since 2026; earlier versions expect the
  // bytes of one bank. nullopt: it is unknown whether traces were used. 0: no traces were used.
  Bytes trace_region_size;
  Bytes l1_small_size;  // per core
};
[[nodiscard]] Settings settings_for(const DeviceReport& device);

}  // namespace ttmem::report
