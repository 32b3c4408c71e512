// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/snapshot.hpp"
#include "views/text.hpp"

namespace ttmem::views {

// How many rows of a device are printed.
enum class Detail : std::uint8_t {
  full,
  brief,  // for many devices: without minor rows
};

// The lines of one device. The first starts with "Device N:"; below it, indented, stand "DRAM:",
// "L1:", "CB:" and "Kernels:", each followed by one blank and a size. Other programs search for
// these words. Which rows there are and what they say: device_rows.hpp. The parts of L1 are drawn
// as steps below its bar, because they add up to it.
[[nodiscard]] std::string device_text(const model::Device& device, Detail detail,
                                      const TextOptions& options);

}  // namespace ttmem::views
