// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core_mask.hpp"
#include "recording/file/rows.hpp"

namespace ttmem::exporter {

// A program that is sent to a device, for its circular buffers.
struct SentProgram {
  std::string name{};
  const recording::Layout* layout = nullptr;  // null: unknown
  std::size_t place = 0;                      // of its device
  std::uint16_t grid_x = 0;                   // of its device; 0: unknown
};

// "{[0-0 - 7-7], [0-8 - 3-8]}", from corner to corner, both included: as TT-Metal writes cores.
[[nodiscard]] std::string core_range_set(const CoreMask& cores, std::uint16_t grid_x);

// The captured graph of one operation, as JSON: a function for each program, with its circular
// buffers in it.
[[nodiscard]] std::string graph_of(const std::vector<SentProgram>& programs);

}  // namespace ttmem::exporter
